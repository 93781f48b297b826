import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { messageOf, OpsError } from '../../core/errors.ts';
import { readYaml } from '../../safety/inputs/read-yaml.ts';
import type { AlertSource } from '../ports.ts';
import { Mapping } from './mapping.ts';
import { mappedSource } from './read-mapped.ts';

/** The source that a mapping file declares. Throws `MAPPING`, naming the file and the field. */
export function loadMapping(file: string): AlertSource {
  try {
    const read = readYaml(readFileSync(file, 'utf8'));
    if (!read.ok) {
      const [fault] = read.faults;
      throw new Error(`not valid YAML: line ${fault?.line}: ${fault?.message}`);
    }
    return mappedSource(Mapping.parse(read.value));
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const why = issue
      ? `${issue.path.map(String).join('.') || 'the file'}: ${issue.message}`
      : messageOf(error);
    throw new OpsError('MAPPING', `${file}: ${why}`, {
      hint: 'docs/recipes/alert-source.md says what a mapping file holds.',
    });
  }
}
