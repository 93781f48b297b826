import type { Draw } from './draw.ts';

/** Where a named value stands in configuration, code, logs and chat; names are as the notation writes them. */
const places: readonly ((name: string, value: string) => string)[] = [
  (name, value) => `${upper(name)}=${value}`,
  (name, value) => `export ${upper(name)}="${value}"`,
  (name, value) => `-e ${upper(name)}=${value} -p 8080:8080 shop/web:1.4.2`,
  (name, value) => `${snake(name)}: ${value}`,
  (name, value) => `service:\n  ${camel(name)}: "${value}"\n  replicas: 3`,
  (name, value) => `        env:\n          - name: ${upper(name)}\n            value: ${value}`,
  (name, value) => `{"${camel(name)}":"${value}","region":"eu-west-1"}`,
  (name, value) => `{\n  "${snake(name)}": "${value}"\n}`,
  (name, value) => `msg="starting with {\\"${snake(name)}\\":\\"${value}\\"}" level=info`,
  (name, value) => `variable "${snake(name)}" {\n  default = "${value}"\n}\n${snake(name)} = "${value}"`,
  (name, value) => `${snake(name)} = '${value}'`,
  (name, value) => `const ${camel(name)} = "${value}";`,
  (name, value) => `2026-03-01T12:00:07Z WARN retry 3 with ${snake(name)}=${value} after timeout`,
  (name, value) =>
    `the old one still works btw: ${snake(name)} is set to\n${upper(name)}=${value}\nplease rotate`,
];

export function inPlace(draw: Draw, name: string, value: string): string {
  return draw.pick(places)(name, value);
}

const snake = (name: string): string => name.replaceAll(' ', '_');
const upper = (name: string): string => snake(name).toUpperCase();
const camel = (name: string): string => name.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
