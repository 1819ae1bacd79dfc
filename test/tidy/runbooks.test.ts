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
  return [...text.matchAll(/\bgrep '([^']+)'/g)].flatMap(([, wanted = '']) =>
    ofLogger.has(wanted) || texts.some((each) => each.includes(wanted))
      ? []
      : [`${path} searches for "${wanted}"; no text of the code contains it`],
  )
}

tidyRule('runbooks search logs for texts that the code writes', {
  check: (files) => files.flatMap(checkSearches),
  on: everything.filter(({ path }) => path.startsWith('docs/runbooks/')),
  atLeast: 15,
  planted: [
    {
      path: 'docs/runbooks/slow.md',
      text: "1. `kubectl logs NAME | grep 'it was never logged'`",
      complaint: 'searches for "it was never logged"',
    },
  ],
  fine: [{ path: 'docs/runbooks/slow.md', text: "grep '\"level\":50', grep 'they are parked'" }],
})
