import { z } from 'zod';
import { DomainName } from '../../core/incident.ts';
import { docTypes } from './document.ts';

/** Beyond it a document is no longer something a model is shown parts of. */
const MAX_CONTENT = 50_000;
const MAX_ENTITIES = 20;

/** `runbooks/orders-lock`: what addresses a document in its store. */
export const DocumentPath = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,62}(?:\/[a-z0-9][a-z0-9._-]{0,62}){0,4}$/,
    'expected up to five parts of lower-case letters, digits, ".", "_" and "-", with "/" between them',
  )
  .refine((path) => !path.includes('..'), 'must not contain ".."');

const names = z.array(z.string().trim().min(1).max(100)).max(MAX_ENTITIES).default([]);

/** What a document is about. */
export const EntitiesInput = z.strictObject({
  namespace: names,
  resource: names,
  environment: names,
  service: names,
});

// PostgreSQL keeps neither NUL nor half a surrogate pair.
const storable = (text: string): boolean => !/[\0\p{Surrogate}]/u.test(text);

/** A document as somebody wants it written. */
export const NewDocument = z.strictObject({
  path: DocumentPath,
  title: z.string().trim().min(1).max(200).refine(storable, 'has characters that cannot be stored'),
  content: z
    .string()
    .min(1)
    .max(MAX_CONTENT)
    .refine((text) => text.trim() !== '', 'is empty')
    .refine(storable, 'has characters that cannot be stored'),
  docType: z.enum(docTypes),
  domain: DomainName.nullable().default(null),
  entities: EntitiesInput.default({ namespace: [], resource: [], environment: [], service: [] }),
});
export type NewDocument = z.input<typeof NewDocument>;
