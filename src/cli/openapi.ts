import { Command } from 'commander';
import { openApi } from '../http/api/open-api.ts';
import { described } from '../http/api/operations.ts';

export const openApiCommand = new Command('openapi')
  .description('Print the description of the HTTP API as OpenAPI 3.1.')
  .action(() => {
    process.stdout.write(`${JSON.stringify(openApi(described), null, 2)}\n`);
  });
