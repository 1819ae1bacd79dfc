import { Visitor } from 'oxc-parser'
import { lineAt, parse } from '../syntax.ts'
import type { TextFile } from '../tree.ts'

const levels = new Set(['debug', 'info', 'warn', 'error'])

/** Complains about each message of the log that has variables in its text: such lines cannot be grouped. */
export function checkLogTexts(files: readonly TextFile[]): string[] {
  return files.flatMap((file) => {
    const found: string[] = []
    new Visitor({
      CallExpression({ callee, arguments: given, start }) {
        if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
        if (!levels.has(callee.property.name)) return
        if (!given.some((each) => each.type === 'TemplateLiteral' && each.expressions.length > 0)) return
        found.push(`${file.path}:${lineAt(file.text, start)} logs a text with variables; make them fields`)
      },
    }).visit(parse(file))
    return found
  })
}
