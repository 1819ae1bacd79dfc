import { beforeAll, describe, expect, test } from 'vitest'
import { copySources, occurrences, type SourceCopy } from '../../acceptance/planted/copy.ts'
import { startQuestdb } from '../../support/questdb/server.ts'
import { killAgain } from '../support/kill-again.ts'
import { writeLate } from '../support/late-write.ts'
import { seeded } from '../support/seeded.ts'

type Scenario = 'kill' | 'late write'

/** A plausible mistake and the scenario that must notice it. */
interface Defect {
  readonly name: string
  readonly file: string
  readonly search: string
  readonly replacement: string
  readonly noticedBy: Scenario
  readonly complaint: RegExp
}

const writer = 'services/stores/questdb/write/writer.ts'
const rows = 'services/stores/questdb/read/bar-page.ts'

const defects: readonly Defect[] = [
  {
    name: 'history is acknowledged before it is stored',
    file: 'services/ingest/feed/store-history.ts',
    search: 'await waitForStore(() => store.write(writes, lane, { signal }), deps)',
    replacement: 'store.write(writes, lane, { signal }).catch(() => undefined)',
    noticedBy: 'kill',
    complaint: /was acknowledged and is not there/,
  },
  {
    name: 'rows that the server did not accept are dropped and acknowledged',
    file: writer,
    search: "text: 'QuestDB write failed; retrying', cause })\n    this.#queue.retry(pieces)",
    replacement:
      "text: 'QuestDB write failed; retrying', cause })\n    for (const { submission } of pieces) submission.stored()",
    noticedBy: 'kill',
    complaint: /was acknowledged and is not there|has revision/,
  },
  {
    name: 'of several readings of a minute the reader returns the oldest',
    file: rows,
    search: 'if (other > revision ||',
    replacement: 'if (other < revision ||',
    noticedBy: 'kill',
    complaint: /has revision/,
  },
  {
    name: 'the reader returns every reading of a minute',
    file: rows,
    search: 'if (times[this.#at] === time && this.count > 0) {',
    replacement: 'if (times[this.#at] === time && this.count > 1e9) {',
    noticedBy: 'kill',
    complaint: /is there twice/,
  },
  {
    name: 'a 30-minute bar has the low of its first minute',
    file: 'services/core/bars/derive.ts',
    search: 'Math.min(bucket.low[0] as number, m1.low[i] as number)',
    replacement: 'bucket.low[0] as number',
    noticedBy: 'kill',
    complaint: /of 30 minutes at/,
  },
  {
    name: 'the last write wins, whatever its revision',
    file: 'services/stores/questdb/layout/statements.ts',
    search: 'DEDUP UPSERT KEYS(ts, sym, rev, taken)',
    replacement: 'DEDUP UPSERT KEYS(ts, sym)',
    noticedBy: 'late write',
    complaint: /has revision/,
  },
]

/** Maximum attempts; a kill without a request in progress may not show the defect. */
const runsMax = 5

const named = (list: readonly Defect[]): [string, Defect][] => list.map((defect) => [defect.name, defect])

test.for(named(defects))('the search text of "%s" occurs exactly once in its file', ([, defect]) => {
  expect(occurrences(defect)).toBe(1)
})

describe('a planted defect fails its scenario', () => {
  let copy: SourceCopy
  beforeAll(() => {
    copy = copySources()
    return () => copy.discard()
  })

  async function complaintsOf(defect: Defect, random: () => number): Promise<string> {
    const server = await startQuestdb()
    try {
      const options = { server, prefix: 'planted_', random, root: copy.root }
      const { complaints } = await copy.with(defect, () =>
        defect.noticedBy === 'kill'
          ? killAgain({ ...options, killsOfEach: 1, hangPercent: 100 })
          : writeLate({ ...options, rounds: 1 }),
      )
      return complaints.join('\n')
    } finally {
      await server.stop()
    }
  }

  test.for(named(defects))('%s', { timeout: 600_000 }, async ([, defect]) => {
    const { random, seed } = seeded()
    let complaints = ''
    for (let run = 0; run < runsMax && !defect.complaint.test(complaints); run++) {
      complaints = await complaintsOf(defect, random)
    }
    expect(complaints, `FXD_TEST_SEED=${seed}`).toMatch(defect.complaint)
  })
})
