import { writeFileSync } from 'node:fs';
import { startEmbeddedPostgres } from '../../../src/infra/db/embedded/start-embedded-postgres.ts';
import { quiet } from '../../support/quiet.ts';

/** What a host declares as the start of its database: `<folder> <port> <pid file>`. The server outlives this process. */
const [dataDir = '', port = '', pidFile = ''] = process.argv.slice(2);
const { pid } = await startEmbeddedPostgres({ dataDir, name: 'shop-db', port: Number(port), log: quiet });
writeFileSync(pidFile, `${pid}\n`);
process.exit(0);
