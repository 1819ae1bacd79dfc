import { type Expression, type Node, Visitor } from 'oxc-parser'
import { commentsOf, lineAt, parse } from '../syntax.ts'
import type { TextFile } from '../tree.ts'

interface Prose {
  readonly kind: 'comment' | 'title' | 'log'
  readonly offset: number
  readonly text: string
}

/** Maximum words of a sentence in a comment or a title. The aim is 20. */
export const sentenceWordsMax = 27

/** Block comments as they are; `//` comments of consecutive lines as one. */
function comments(file: TextFile): Prose[] {
  const found: { kind: 'comment'; offset: number; end: number; text: string; isBlock: boolean }[] = []
  for (const { type, value, start, end } of commentsOf(file)) {
    const last = found.at(-1)
    const isBlock = type === 'Block'
    const continues = last !== undefined && !last.isBlock && !isBlock
    if (continues && /^\n[ \t]*$/.test(file.text.slice(last.end, start))) {
      last.text += `\n${value}`
      last.end = end
    } else found.push({ kind: 'comment', offset: start, end, text: value, isBlock })
  }
  return found.map((one) => ({ ...one, text: one.text.replace(/^[ \t]*\*+/gm, '').trim() }))
}

const textIn = (node: Node): string[] => {
  if (node.type === 'Literal') return typeof node.value === 'string' ? [node.value] : []
  return node.type === 'TemplateLiteral' ? [node.quasis.map(({ value }) => value.raw).join('…')] : []
}

/** Every name of a chain of members and calls: `test.for(cases)` has `test` and `for`. */
function namesOf(node: Expression): string[] {
  if (node.type === 'Identifier') return [node.name]
  if (node.type === 'CallExpression') return namesOf(node.callee)
  if (node.type !== 'MemberExpression') return []
  const { property } = node
  const last = property.type === 'Identifier' || property.type === 'PrivateIdentifier' ? [property.name] : []
  return [...namesOf(node.object), ...last]
}

const titled = new Set(['test', 'it', 'describe', 'suite', 'tidyRule'])
const levels = new Set(['debug', 'info', 'warn', 'error'])

/** Calls of a log, and of an `OutageLog` by any name that begins with `outage`. */
function isOfLog(names: readonly string[]): boolean {
  const [method = '', log = ''] = names.toReversed()
  if (method === 'failed' || method === 'worked') return names.some((name) => name.startsWith('outage'))
  return levels.has(method) && log === 'log'
}

/** The titles of tests, and every text within the arguments of a call of a log. */
function titlesAndLogs(file: TextFile): Prose[] {
  const found: Prose[] = []
  const logs: { start: number; end: number }[] = []
  const text = (node: Node): void => {
    const logged = logs.some(({ start, end }) => start <= node.start && node.end <= end)
    if (logged) for (const one of textIn(node)) found.push({ kind: 'log', offset: node.start, text: one })
  }
  new Visitor({
    CallExpression: (node) => {
      const names = namesOf(node.callee)
      const [first] = names
      const [title] = node.arguments
      if (title !== undefined && first !== undefined && titled.has(first))
        for (const one of textIn(title)) found.push({ kind: 'title', offset: title.start, text: one })
      if (isOfLog(names)) logs.push(node)
    },
    Literal: text,
    TemplateLiteral: text,
  }).visit(parse(file))
  return found
}

/** The sentences of a text. A list item and an empty line begin a new one. */
const sentences = (text: string): string[] =>
  text.split(/(?<=[.:;!?])\s+|\n\s*\n|\n\s*[-*] /).filter((one) => one.trim() !== '')

interface WordRule {
  readonly kinds: readonly Prose['kind'][]
  readonly found: RegExp
  readonly cure: string
}

const rules: readonly WordRule[] = [
  {
    kinds: ['comment'],
    found: /^(?:Of|So long|So often|Whoever|Who)\b/,
    cure: 'begin with the subject; of a constant, with what it limits',
  },
  {
    kinds: ['log'],
    found: /^(?:un)?available\b|\b(?:away|told|tells|goes on|going on)\b/i,
    cure: 'begin with what failed; say "unavailable", "timed out", "retrying", "dropped" or "rejected"',
  },
  {
    kinds: ['comment', 'title', 'log'],
    found: /\b(?:houses?|ground floor|doors?)\b/i,
    cure: 'use the trade term',
  },
]

/** Complains about words that a reader has to decode, and about sentences that are too long. */
export function checkWords(files: readonly TextFile[]): string[] {
  return files.flatMap((file) =>
    [...comments(file), ...titlesAndLogs(file)].flatMap(({ kind, offset, text }) => {
      const at = `${file.path}:${lineAt(file.text, offset)}: ${kind}`
      const words = rules.flatMap(({ kinds, found, cure }) => {
        const [phrase] = (kinds.includes(kind) && found.exec(text)) || []
        return phrase === undefined ? [] : [`${at} has "${phrase}"; ${cure}`]
      })
      const long = (kind === 'log' ? [] : sentences(text)).flatMap((sentence) => {
        const count = sentence.trim().split(/\s+/).length
        const begin = sentence.trim().split(/\s+/).slice(0, 5).join(' ')
        return count > sentenceWordsMax
          ? [`${at} has ${count} words in "${begin} …", ${sentenceWordsMax} at most; split the sentence`]
          : []
      })
      return [...words, ...long]
    }),
  )
}
