// `tsx writer-process.ts <database url> <incident> <name> <count>`: appends `<name>0`, `<name>1` … to the one document of
// the incident, reading it again whenever somebody else was faster.
import { asIncidentId } from '../../../../src/core/ids.ts';
import { openDatabase } from '../../../../src/infra/db/client.ts';
import type { Reader } from '../../../../src/memory/documents/access.ts';
import { conversationStore } from '../../../../src/memory/documents/document.ts';
import { createDocuments } from '../../../../src/memory/documents/documents.ts';
import { createRecords } from '../../../../src/record/record.ts';
import { createAuditLog } from '../../../../src/safety/audit/audit-chain.ts';
import { domains } from '../../../support/targets.ts';

const [url = '', incident = '', name = '', count = '0'] = process.argv.slice(2);
const { sql, close } = openDatabase(url, { max: 2 });
const documents = createDocuments({
  sql,
  events: createRecords(sql),
  audit: createAuditLog(sql),
  enabled: true,
  domains,
});
const incidentId = asIncidentId(incident);
const reader: Reader = { kind: 'agent', incidentId, userId: null };

for (let n = 0; n < Number(count); ) {
  const [document] = await documents.list(reader, { store: conversationStore });
  if (!document) throw new Error('there is no document');
  const patched = await documents.patch({ kind: 'agent', role: 'detective', incidentId }, reader, {
    ref: { id: document.id },
    baseSha256: document.sha256,
    content: `${document.content} ${name}${n}`,
    sources: [],
  });
  if (patched.ok) n += 1;
  else if (patched.code !== 'MEMORY_STALE') throw new Error(patched.reason);
}
await close();
