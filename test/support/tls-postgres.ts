import { execFileSync } from 'node:child_process';
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/infra/db/embedded/start-embedded-postgres.ts';
import { quiet } from './quiet.ts';
import { scratchDir } from './scratch-dir.ts';

const openssl = (...args: readonly string[]): void =>
  void execFileSync('openssl', [...args], { stdio: 'ignore' });

/** A private authority, and what it signs, made by openssl in a folder. */
function authority(dir: string, name: string) {
  const at = (file: string) => join(dir, file);
  const subject = (cn: string) => ['-subj', `/CN=${cn}`];
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const ca = at(`${name}.crt`);
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-days',
    '2',
    ...subject(name),
    '-keyout',
    at(`${name}.key`),
    '-out',
    ca,
  );
  return {
    ca,
    /** `names`: as in subjectAltName. */
    sign(cn: string, names?: string) {
      const [crt, key, csr] = [at(`${cn}.crt`), at(`${cn}.key`), at(`${cn}.csr`)];
      openssl('req', ...newKey, ...subject(cn), '-keyout', key, '-out', csr);
      const extensions = at(`${cn}.ext`);
      writeFileSync(extensions, names ? `subjectAltName=${names}\n` : '');
      const signed = ['-CA', ca, '-CAkey', at(`${name}.key`), '-CAcreateserial', '-days', '2', '-out', crt];
      openssl('x509', '-req', '-in', csr, ...signed, '-extfile', extensions);
      return { crt, key };
    },
  };
}

/** A real PostgreSQL that lets nobody in without TLS, and `certified` only with a certificate; its authority is private. */
export async function startTlsPostgres() {
  const dir = scratchDir();
  const dataDir = join(dir, 'server');
  const options = { dataDir, name: 'guarded', log: quiet };
  // The first start makes the cluster, whose owner must own the key.
  await (await startEmbeddedPostgres(options)).stop();
  const { home } = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8')) as { home: string | null };
  const cluster = join(home ?? dataDir, 'cluster');
  const own = authority(dir, 'private-authority');
  const { crt, key } = own.sign('server', 'DNS:localhost');
  const files = {
    'server.crt': readFileSync(crt),
    'server.key': readFileSync(key),
    'ca.crt': readFileSync(own.ca),
    'tls-hba.conf': 'hostssl all certified all cert\nhostssl all all all scram-sha-256\n',
  };
  const { uid, gid } = statSync(cluster);
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(cluster, name), content, { mode: 0o600 });
    chownSync(join(cluster, name), uid, gid);
  }
  const settings = {
    ssl: 'on',
    ssl_cert_file: 'server.crt',
    ssl_key_file: 'server.key',
    ssl_ca_file: 'ca.crt',
    hba_file: join(cluster, 'tls-hba.conf'),
  };
  const server = await startEmbeddedPostgres({ ...options, settings });
  return {
    ca: own.ca,
    otherCa: authority(dir, 'other-authority').ca,
    client: own.sign('certified'),
    /** Its URL with these parameters; at localhost, the name in its certificate, unless told otherwise. */
    url(parameters: Readonly<Record<string, string>>, host = 'localhost') {
      const url = new URL(server.url);
      url.hostname = host;
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    },
    stop: server.stop,
  };
}
