import { Visitor } from 'oxc-parser'
import { tidyRule } from './rule.ts'
import { parse } from './syntax.ts'
import { everything, shipped, type TextFile } from './tree.ts'

/** Texts of log lines that the logger writes itself: the level of an error. */
const ofLogger = new Set(['"level":50'])

/** Every text of the code that is in the image. */
const texts = shipped.flatMap((file) => {
  const found: string[] = []
  new Visitor({
    Literal: ({ value }) => void (typeof value === 'string' && found.push(value)),
    TemplateElement: ({ value }) => void found.push(value.raw),
  }).visit(parse(file))
  return found
})

function checkSearches({ path, text }: TextFile): string[] {
  return [...text.matchAll(/\bgrep (?:'([^']+)'|([^`|]*))/g)].flatMap(([, wanted, other]) => {
    if (wanted === undefined) return [`${path} has "grep ${other}"; write grep '…'`]
    if (ofLogger.has(wanted) || texts.some((each) => each.includes(wanted))) return []
    return [`${path} searches for "${wanted}"; no text of the code contains it`]
  })
}

const namespaceLine = 'Commands are for the namespace of the release'

const checkNamespace = ({ path, text }: TextFile): string[] =>
  /`kubectl (?!config)/.test(text) && !text.includes(namespaceLine)
    ? [`${path} has kubectl commands; it lacks the line "${namespaceLine}: …"`]
    : []

tidyRule('runbooks search logs for texts that the code writes', {
  check: (files) => files.flatMap((file) => [...checkSearches(file), ...checkNamespace(file)]),
  on: everything.filter(({ path }) => path.startsWith('docs/runbooks/')),
  atLeast: 15,
  planted: [
    {
      path: 'docs/runbooks/slow.md',
      text: "1. `logs NAME | grep 'it was never logged'`",
      complaint: 'searches for "it was never logged"',
    },
    { path: 'docs/runbooks/slow.md', text: '`logs NAME | grep refused`', complaint: 'has "grep refused"' },
    { path: 'docs/runbooks/slow.md', text: '`kubectl get pods`', complaint: 'it lacks the line' },
  ],
  fine: [{ path: 'docs/runbooks/slow.md', text: "grep '\"level\":50', grep 'it rejects rows'" }],
})
