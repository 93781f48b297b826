import type { Incident } from '../../core/incident.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import { faultWord, sideWord } from './alert-direction.ts';

/** What any alert's name may say beside its subject: of which kind of system, how bad, and small words. */
const ANYBODYS =
  /^(?:postgres|pg|psql|cnpg|cloudnativepg|rds|aurora|db|dbs|databases?|clusters?|instances?|servers?|hosts?|nodes?|machines?|vm|linux|system|alert|alarm|firing|warning|critical|severe|info|prod|production|staging|test|detected|found|too|is|are|has|have|on|in|of|the|a|an|by|at|for|to|from|and|with|primary|replica|standby|master|writer|reader|leader|follower|physical|guest|total|count|number|sizes?|states?|status|usage|used?|percent\w*|perc|pct|values?|check|current|max|min|fast|quick\w*|rapid\w*|sudden\w*|unusual\w*|often|again|still|\d+[smhd]?)$/;
/** How a word goes on that a pattern has cut off: `Quer*`, `Saturat*`, `Utili*`. */
const ENDING = /^(?:y|ies|e|es|er|s|ed|th|ing|ent(?:age)?|(?:at|[zs]at)?ions?)$/;
/** A share of many, a time that each takes, or what was counted elsewhere: not what a look at the system now shows. */
const OTHER_QUANTITY =
  /^(?:rates?|ratios?|latenc(?:y|ies)|percentiles?|p\d\d+|averages?|avg|mean|median|throughput|qps|rps|tps|http|[45]xx|timeouts?)$/;
const OTHER_SYSTEM =
  /^(?:mysql\w*|innodb|maria\w*|percona|mongo\w*|redis|valkey|memcached?|kafka|zookeeper|rabbitmq|nats|elastic\w*|opensearch|solr|cassandra|scylla\w*|clickhouse|cockroach\w*|oracle|mssql|sqlserver|sqlite|dynamodb|bigquery|snowflake|influx\w*|neo4j|couch\w*|ldap|etcd|consul|vault|pgbouncer|pgpool|hikari\w*|haproxy|nginx|varnish|cloudfront|cloudflare|cdn|apache|envoy|traefik|flink|spark|hadoop|hdfs|airflow|jenkins|gitlab|ceph|drbd|zfs)$/;
/** What watches a system, or what it runs in: not where the fault must be, but where it may be as well. */
const PLATFORM =
  /^(?:prometheus|alertmanager|grafana|loki|thanos|fluent\w*|logstash|docker|podman|kube\w*|k8s|argocd|minio)$/;
/** What alerts of a domain call the things that it is made of, and the programs that tell of them, whichever fault they mean. */
const OF_DOMAIN: Readonly<Record<string, RegExp>> = {
  kubernetes:
    /^(?:kube\w*|k8s|pods?|containers?|deployments?|stateful\w*|daemon\w*|sets?|replica\w*|workloads?|namespaces?|services?)$/,
};
/** Labels that say what an alert is about; the others say where it was seen and by whom. */
const OF_SUBJECT = ['component', 'engine', 'job', 'app', 'application', 'service', 'service_name', 'type'];

/**
 * The first word by which an alert may be about something else than the runbook that fits it. Where that is by a pattern, every
 * word of the name has to be known: a pattern with `*` fits more names than its author thought of. Of its texts, which say more,
 * another system counts; where all is well also another kind of quantity, or what the system runs in: the fault may be there.
 * `shown`: what the runbook says of the live system, whose own names are no other subject. Null: there is none.
 */
export function otherSubject(
  { matches, title: subject, type, domains }: Runbook,
  { alertName, title, annotations, labels, target }: Incident,
  {
    shown,
    isListed,
    isFault,
  }: { readonly shown: string; readonly isListed: boolean; readonly isFault: boolean },
): string | null {
  const name = alertName ?? '';
  const stems = [...matches.alerts.flatMap((pattern) => pattern.split('*')), type].flatMap((part) => [
    ...wordsIn(part),
    wordsIn(part).join(''),
  ]);
  const own = new Set([...stems, ...wordsIn(subject), ...wordsIn(target ?? ''), ...wordsIn(shown)]);
  const isOwn = (word: string): boolean =>
    own.has(word) ||
    stems.some((stem) => continues(stem, word)) ||
    domains.some((domain) => OF_DOMAIN[domain]?.test(word));
  const told = [
    name,
    title,
    ...Object.values(annotations),
    ...OF_SUBJECT.map((label) => labels[label] ?? ''),
  ].join(' . ');
  const elsewhere = isFault ? [OTHER_SYSTEM] : [OTHER_SYSTEM, PLATFORM, OTHER_QUANTITY];
  return (
    wordsIn(isListed ? name : '').find((word) => !isOwn(word) && !isAnybodys(word)) ??
    // `RabbitMQ` is one word of its own, `RedisDown` two.
    [...wordsIn(told.toLowerCase()), ...wordsIn(told)].find(
      (word) => !isOwn(word) && elsewhere.some((pattern) => pattern.test(word)),
    ) ??
    null
  );
}

/** Errors that are counted are a subject of their own. */
function isAnybodys(word: string): boolean {
  return ANYBODYS.test(word) || sideWord(word) || (faultWord(word) && !word.startsWith('error'));
}

function continues(stem: string, word: string): boolean {
  return stem.length >= 4 && word.startsWith(stem) && ENDING.test(word.slice(stem.length));
}

function wordsIn(text: string): readonly string[] {
  return text
    .replace(/\bhttps?:\/\/\S+/gi, ' ')
    .replace(/postgre(?:sql|s)?/gi, ' Postgres ')
    .replace(/my ?sql/gi, 'mysql')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\bper (?:second|minute|hour|day)\b|\/ ?(?:s|sec|min)\b/g, ' rate ')
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
