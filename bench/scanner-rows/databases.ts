import type { Draw } from './draw.ts';
import type { Shape } from './rows.ts';

/** Passwords as people and generators make them, percent-encoded where they stand in a URL. */
const passwords: readonly ((draw: Draw) => string)[] = [
  (draw) => draw.run('word', 8 + draw.number(16)),
  (draw) => draw.run('hex', 24),
  (draw) => `${draw.run('lower', 5)}-${draw.run('lower', 6)}-${draw.run('digits', 3)}`,
  (draw) => `${draw.run('word', 7)}%40${draw.run('word', 5)}%21`,
  (draw) => `${draw.pick(['Summer', 'Orders', 'Winter'])}${2020 + draw.number(7)}!`,
  (draw) => `${draw.run('base64url', 20)}$1`,
];
const password = (draw: Draw): string => draw.pick(passwords)(draw);

/** `§` stands for the password. */
const withPassword = (...templates: readonly string[]): readonly Shape[] =>
  templates.map((template) => (draw: Draw) => {
    const secret = password(draw);
    return { text: template.replaceAll('§', () => secret), secrets: [secret] };
  });

/** Connection strings by scheme and driver, and where they stand. */
export const databaseShapes: readonly Shape[] = withPassword(
  'DATABASE_URL=postgres://shop:§@db.internal:5432/shop?sslmode=require',
  'postgresql+asyncpg://svc_orders:§@10.0.3.7/orders',
  '{"dsn":"postgresql://app:§@/app?host=/var/run/postgresql"}',
  "engine = create_engine('mysql+pymysql://root:§@127.0.0.1:3306/app')",
  'spring:\n  datasource:\n    url: mysql://reporting:§@mysql-0.mysql:3306/report',
  'mariadb://wiki:§@mariadb/wiki',
  'MONGO_URI="mongodb://admin:§@mongo-0,mongo-1,mongo-2:27017/?replicaSet=rs0"',
  'mongodb+srv://api:§@cluster0.ab1cd.mongodb.net/prod?retryWrites=true',
  'redis://:§@cache:6379/0',
  'REDIS_URL: rediss://default:§@redis.example.com:6380',
  'amqp://guest2:§@rabbit:5672/%2Fprod',
  'broker_url = "amqps://celery:§@mq.example.com//"',
  'mssql://sa:§@sql01:1433/Billing?encrypt=true',
  'sqlserver://sa:§@sql01:1433?database=Billing',
  'clickhouse://default:§@ch-0:9000/events',
  'cockroachdb://maxroach:§@roach:26257/bank',
  'snowflake://etl:§@acme-eu1/warehouse',
  'elasticsearch.url=https://elastic:§@es:9200',
  'nats://bot:§@nats:4222',
  'ldap://cn=admin:§@ldap.example.com',
  'could not connect to postgres://shop:§@db.internal:5432/shop: timeout',
  'jdbc:postgresql://db:5432/app?user=app&password=§',
  'jdbc:mysql://db:3306/app?user=app&password=§&useSSL=false',
  'spring.datasource.url=jdbc:sqlserver://sql01:1433;databaseName=Billing;user=sa;password=§;encrypt=true',
  'jdbc:oracle:thin:scott/§@//ora.example.com:1521/ORCL',
  'jdbc:oracle:thin:app/§@ora01:1521:PROD',
  'Server=sql01;Database=Billing;User Id=sa;Password=§;TrustServerCertificate=True',
  'Data Source=sql01;Initial Catalog=Billing;uid=sa;pwd=§;',
  'Host=db;Port=5432;Username=app;Password=§;Database=app',
  'host=db.internal port=5432 dbname=shop user=shop password=§ sslmode=disable',
  'db, err := sql.Open("mysql", "app:§@tcp(127.0.0.1:3306)/app?parseTime=true")',
  'DSN: grafana:§@tcp(mysql:3306)/grafana',
  'DB_DSN=app:§@unix(/var/run/mysqld/mysqld.sock)/app',
  'Driver={ODBC Driver 18 for SQL Server};Server=sql01;UID=sa;PWD=§;',
  'psql "postgresql://ops:§@replica:5432/shop" -c "select 1"',
  'sqlplus system/§@ORCL',
  'db:5432:shop:app:§',
);
