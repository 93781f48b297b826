import { isPlaceholder } from '../randomness.ts';
import type { Span, TextRule } from '../rule.ts';

const secretKind = /^[ \t-]*["']?kind["']?[ \t]*:[ \t]*["']?Secret["']?[ \t,]*\r?$/im;

/** Values under `data:` and `stringData:` of every document that is a Kubernetes Secret or holds one. */
function secretSpans(text: string): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (const document of text.split(/^(?=---)/m)) {
    if (secretKind.test(document)) spans.push(...dataValues(document, from));
    from += document.length;
  }
  return secretInJson.test(text) ? [...spans, ...jsonValues(text)] : spans;
}

/** `key: |` begins a block; its value stands in the lines below. */
const opensBlock = /^\s*["']?[\w.-]+["']?[ \t]*:[ \t]*(?:[|>][+-]?\d?)?[ \t]*\r?$/;
const dataLine = /^\s*(?:["']?[\w.-]+["']?[ \t]*:[ \t]*)?["']?([^\s"'|>][^"'\r]{3,})/d;

function dataValues(document: string, from: number): Span[] {
  const spans: Span[] = [];
  let at = from;
  let indent = -1;
  for (const line of document.split('\n')) {
    const depth = line.length - line.trimStart().length;
    const opens = /^[ \t-]*["']?(?:data|stringData)["']?[ \t]*:[ \t]*\{?\r?$/.test(line);
    if (opens) indent = depth;
    else if (indent >= 0 && line.trim() !== '' && depth <= indent) indent = -1;
    else if (indent >= 0) {
      const value = (opensBlock.test(line) ? null : dataLine.exec(line))?.indices?.[1];
      if (value !== undefined && !isPlaceholder(line.slice(...value)))
        spans.push({ start: at + value[0], end: at + value[1] });
    }
    at += line.length + 1;
  }
  return spans;
}

/** In one line, also escaped, as `kubectl apply` notes it in an annotation. */
const secretInJson = /\\?"kind\\?"\s{0,3}:\s{0,3}\\?"Secret\\?"/;
const jsonData = /\\?"(?:data|stringData)\\?"\s{0,3}:\s{0,3}\{([^{}]{1,100000})\}/dg;
const jsonValue = /:\s{0,3}\\?"([^"\\]{2,})\\?"/dg;

function jsonValues(text: string): Span[] {
  return [...text.matchAll(jsonData)].flatMap(({ indices }) => {
    const [from, to] = indices?.[1] ?? [0, 0];
    return [...text.slice(from, to).matchAll(jsonValue)].flatMap((found) => {
      const [start, end] = found.indices?.[1] ?? [0, 0];
      return isPlaceholder(found[1] ?? '') ? [] : [{ start: from + start, end: from + end }];
    });
  });
}

const kubeconfigKind = /^["']?kind["']?[ \t]*:[ \t]*["']?Config["']?[ \t,]*\r?$/m;
/** What a user of a kubeconfig proves himself by: a value, a file, or a program that is asked. */
const proof =
  /^[ \t-]*["']?(?:token|tokenFile|password|client-key|client-certificate|id-token|refresh-token|access-token|client-secret|command)["']?[ \t]*:[ \t]*["']?([^\s"'{}[\]]{1,4096})/dgm;

function kubeconfigSpans(text: string): Span[] {
  const users = text.search(/^\s{0,4}["']?users["']?[ \t]*:/m);
  if (users === -1) return [];
  return [...text.slice(users).matchAll(proof)].flatMap(({ 1: value = '', indices }) => {
    const [start, end] = indices?.[1] ?? [0, 0];
    return isPlaceholder(value) ? [] : [{ start: users + start, end: users + end }];
  });
}

const secretMark = /kind\\?["']?[ \t]*:[ \t]*\\?["']?secret/i;

export const kubernetesRules: readonly TextRule[] = [
  {
    id: 'kubernetes-secret',
    category: 'kubeconfig',
    source: 'kubernetes.io/docs/concepts/configuration/secret; gitleaks kubernetes-secret-yaml',
    hint: (text) =>
      (text.includes('kind') || text.includes('Kind') || text.includes('KIND')) && secretMark.test(text),
    spans: secretSpans,
  },
  {
    id: 'kubeconfig-user',
    category: 'kubeconfig',
    source: 'kubernetes.io/docs/reference/config-api/kubeconfig.v1 (AuthInfo, ExecConfig)',
    hint: (text) => text.includes('Config') && text.includes('users') && kubeconfigKind.test(text),
    spans: kubeconfigSpans,
  },
];
