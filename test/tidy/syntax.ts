import { posix } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import type { TextFile } from './tree.ts'

type Parsed = ReturnType<typeof parseSync>

function parsed({ path, text }: TextFile): Parsed {
  const result = parseSync(path, text)
  const [error] = result.errors
  if (error !== undefined) throw new Error(`${path} does not parse: ${error.message}`)
  return result
}

export const parse = (file: TextFile): Parsed['program'] => parsed(file).program

export const commentsOf = (file: TextFile): Parsed['comments'] => parsed(file).comments

/** The specifiers of all imports: static, type only, re-exported, dynamic and inside a type. */
export function importsOf(file: TextFile): string[] {
  const found: string[] = []
  const note = (source: { value?: unknown } | null | undefined): void => {
    if (typeof source?.value === 'string') found.push(source.value)
  }
  new Visitor({
    ImportDeclaration: (node) => note(node.source),
    ExportNamedDeclaration: (node) => note(node.source),
    ExportAllDeclaration: (node) => note(node.source),
    ImportExpression: (node) => note(node.source as { value?: unknown }),
    TSImportType: (node) => note(node.source),
  }).visit(parse(file))
  return found
}

/** The path from the root that a relative specifier in the file `path` names. */
export const imported = (path: string, specifier: string): string =>
  posix.join(posix.dirname(path), specifier)

/** The line, from 1, of an offset in a text. */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length
