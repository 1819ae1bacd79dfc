import type { TerminalKind } from './programs.ts'
import { subset } from './subset.ts'

/*
 * No compiler of MQL exists outside of MetaEditor. This lint is the only guard against errors of MetaEditor:
 * it allows a small part of MQL that means the same in C++, and refuses every other word.
 */

/** Returns the line with its literals emptied, and without its comment. */
const withoutTexts = (line: string): string =>
  line
    .replace(/"(?:[^"\\]|\\.)*"/g, '""')
    .replace(/'(?:[^'\\]|\\.)*'/g, "''")
    .replace(/\/\/.*$/, '')

const types = 'bool|char|datetime|double|int|long|string|uchar|Mql\\w+|Bridge\\w+|ENUM_\\w+'
const variable = new RegExp(`^\\s*(?:const |input )?\\s*(?:${types})\\s+(.*);`)

/** Without what stands in parentheses: arguments are no declarations. */
function withoutGroups(code: string): string {
  const less = code.replace(/\([^()]*\)/g, '')
  return less === code ? code : withoutGroups(less)
}

/** Names that the programs declare themselves. */
function declaredIn(lines: readonly string[]): Set<string> {
  const code = lines.join('\n')
  const names = new Set<string>()
  const add = (pattern: RegExp): void => {
    for (const [, name] of code.matchAll(pattern)) names.add(name ?? '')
  }
  add(/#define\s+(\w+)/g)
  add(/\b(?:enum|struct)\s+(\w+)/g)
  add(/^\s*(\w+)=\d+,?$/gm)
  add(new RegExp(`\\b(?:${types}|void)\\s+&?(\\w+)`, 'g'))
  // Further variables of one declaration.
  for (const line of code.split(/(?<=;)|\n/)) {
    const rest = withoutGroups(variable.exec(line)?.[1] ?? '')
    for (const [, name] of rest.matchAll(/,\s*(\w+)\s*(?:\[\w*\])*\s*(?:=|,|$)/g)) names.add(name ?? '')
  }
  return names
}

/** What a line may not have, though C++ or MQL permits it. */
const refused: readonly (readonly [RegExp, string])[] = [
  [/->|\b\w+\s+\*\w|=\s*&|\*\w+\s*=[^=]/, 'a pointer'],
  [/^\s*(?:const )?(?:\w+)\s+&\w+\s*=/, 'a reference to a local variable'],
  [/\[\s*[&=\]]?\s*\]\s*\(/, 'a lambda'],
  [/::/, 'a scope operator'],
  [/=\s*\([^()?]*,[^()]*\)\s*;/, 'the comma operator'],
  [/\bcast\b|\btemplate\b|\btypedef\b|\bgoto\b/, 'a construct outside of the subset'],
]

const notAscii = /[^\t\x20-\x7e]/

/** The same variable twice in one line: MetaEditor refuses it, and so does C++. */
function declaredTwice(line: string): string[] {
  const found = [...line.matchAll(new RegExp(`\\b(?:${types})\\s+(\\w+)\\s*=`, 'g'))].map(([, name]) => name)
  return found.filter((name, at) => found.indexOf(name) < at).map((name) => `${name} is declared twice`)
}

function complaintsOfLine(raw: string, known: ReadonlySet<string>, kind: TerminalKind): string[] {
  if (raw.startsWith('#property')) return []
  const line = withoutTexts(raw)
  const found = refused.filter(([pattern]) => pattern.test(line)).map(([, what]) => what)
  // Texts and comments count here, too.
  if (notAscii.test(raw)) found.unshift('a character that is not ASCII')
  const names = line.replace(/^#define/, '').matchAll(/\b[A-Za-z_]\w*/g)
  const foreign = [...names].map(([name]) => name).filter((name) => !known.has(name))
  return [
    ...found.map((what) => `${what} is not allowed`),
    ...new Set(foreign.map((name) => `${name} is not in the subset of ${kind}`)),
    ...declaredTwice(line),
  ]
}

/** What of a program is not in the subset, with its line. */
export function complaintsOf(text: string, kind: TerminalKind): string[] {
  const lines = text.split('\n')
  const known = new Set([...subset[kind], ...declaredIn(lines.map(withoutTexts))])
  return lines.flatMap((line, at) =>
    complaintsOfLine(line, known, kind).map((complaint) => `line ${at + 1}: ${complaint}`),
  )
}
