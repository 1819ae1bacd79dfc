import { beforeAll, describe, expect, test } from 'vitest'
import { copySources, occurrences, type SourceCopy } from './copy.ts'
import type { Defect } from './defect.ts'
import { defects } from './defects.ts'
import { runAcceptance } from './run-acceptance.ts'

const effort = Number(process.env['FXD_TEST_EFFORT'] ?? 1)
/** Each defect needs a start of the service: an ordinary run tries a few, `npm run planted` all. */
const tried = effort >= 2 ? defects : defects.slice(0, 4)
const minuteMs = 60_000
const named = (list: readonly Defect[]): [string, Defect][] => list.map((defect) => [defect.name, defect])

test('there are at least twenty defects, no two with the same name or place', () => {
  expect(defects.length).toBeGreaterThanOrEqual(20)
  expect(new Set(defects.map(({ name }) => name)).size).toBe(defects.length)
  expect(new Set(defects.map(({ file, search }) => `${file}: ${search}`)).size).toBe(defects.length)
})

test.for(named(defects))('the search text of "%s" occurs exactly once in its file', ([, defect]) => {
  expect(occurrences(defect)).toBe(1)
  expect(defect.replacement).not.toBe(defect.search)
})

describe('a planted defect fails its test', () => {
  let copy: SourceCopy
  beforeAll(() => {
    copy = copySources()
    return () => copy.discard()
  })

  test('a copy without defects passes the tests that must notice the defects', {
    timeout: 10 * minuteMs,
  }, async () => {
    const { statuses, output } = await runAcceptance(
      copy.root,
      tried.map(({ noticedBy }) => noticedBy),
    )
    for (const { noticedBy } of tried) expect(statuses.get(noticedBy[1]), output).toBe('passed')
  })

  test.for(named(tried))('%s', { timeout: 4 * minuteMs }, async ([, defect]) => {
    const { statuses, output } = await copy.with(defect, () => runAcceptance(copy.root, [defect.noticedBy]))
    expect(statuses.get(defect.noticedBy[1]), output).toBe('failed')
  })
})
