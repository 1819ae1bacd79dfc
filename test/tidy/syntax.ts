import { parseSync, Visitor } from 'oxc-parser'
import type { TextFile } from './tree.ts'

type Program = ReturnType<typeof parseSync>['program']

export function parse({ path, text }: TextFile): Program {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`)
  return program
}

/** What a file imports, in every way one can: static, type only, re-exported, dynamic, inside a type. */
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
