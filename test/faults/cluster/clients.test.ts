import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { printTable } from '../../bench/support/figures.ts'
import { effort } from '../../support/effort.ts'
import { type Finding, findingKinds } from '../checks/check-items.ts'
import { type ClientFault, clientFaults, longFaults, type Sample } from '../clients/client-faults.ts'
import { ClientsCluster, quietFeed } from '../clients/clients-cluster.ts'
import { languages } from '../clients/follower.ts'
import { seeded } from '../support/seeded.ts'

const isLong = effort > 1
/** Drawn faults; with those that take minutes 300 in `make soak`. In `make test` each kind comes once. */
const drawnCount = isLong ? Math.round(60 * effort) - longFaults.length : 0
/** A round ends before its feed reaches the present. */
const faultsPerRound = 30
/** Less than what a program gets while it does not read, and more than a burst after a short outage. */
const buffer = 500
const minuteMs = isLong ? 600 : 250
const { random, seed } = seeded()
const hint = `FXD_TEST_SEED=${seed}`

const countOf = (faults: readonly ClientFault[]): number =>
  faults.reduce((sum, { meanwhile = [] }) => sum + 1 + meanwhile.length, 0)
const kinds = clientFaults(isLong ? { cut: 10, stop: 15 } : { cut: 4, stop: 6 })
const apart = kinds.flatMap((each) => [each, ...(each.meanwhile ?? [])])
const drawn: ClientFault[] = []
while (countOf(drawn) < drawnCount) drawn.push(apart[Math.floor(random() * apart.length)] as ClientFault)
const roundsOf = (faults: readonly ClientFault[]): readonly (readonly ClientFault[])[] =>
  Array.from({ length: Math.ceil(faults.length / faultsPerRound) }, (_, i) =>
    faults.slice(i * faultsPerRound, (i + 1) * faultsPerRound),
  )
const rounds = isLong ? [...roundsOf(drawn), longFaults] : [kinds]
const faultCount = countOf(rounds.flat())

/** What a fault did to the clients, in the order of `languages`. */
interface Outcome {
  readonly fault: ClientFault
  readonly seconds: number
  /** Items that each client had given when it was over. */
  readonly items: readonly number[]
  /** How the streams ended meanwhile. */
  readonly ends: readonly (readonly string[])[]
}
interface Verdict {
  readonly fault: string
  readonly language: string
  readonly given: string | undefined
  readonly expected: string
}

test('both clients give each bar once and in order through every fault, end only where they must, and tell quiet from dead', {
  timeout: rounds.length * 240_000 + 60_000 * faultCount,
}, async () => {
  console.log(`${hint}: ${faultCount} faults in ${rounds.length} rounds`)
  const verdicts: Verdict[] = []
  const complaints: string[] = []
  for (const round of rounds) complaints.push(...(await run(round, verdicts)))
  const wrong = verdicts.filter(({ given, expected }) => given !== expected)
  console.log(`${verdicts.length - wrong.length} of ${verdicts.length} verdicts were right`)
  expect(complaints, hint).toEqual([])
  expect(wrong, hint).toEqual([])
  expect(verdicts.length).toBeGreaterThanOrEqual(isLong ? 200 : 20)
})

/** Lets the clients meet these faults on a new cluster; returns what is wrong at the end. */
async function run(round: readonly ClientFault[], verdicts: Verdict[]): Promise<readonly string[]> {
  const of = await ClientsCluster.start({ random, minuteMs, buffer })
  onTestFinished(async () => void (await of.end()))
  const outcomes: Outcome[] = []
  // The verdict may be unknown in the first two minutes of a client.
  await of.judged('quiet', 150_000)
  for (const fault of round) {
    const sample: Sample = async (expected) => {
      await pause(of.any(1_000))
      for (const follower of of.followers) {
        const given = await follower.verdict(quietFeed)
        verdicts.push({ fault: fault.name, language: follower.language, given, expected })
      }
    }
    const begun = performance.now()
    const before = of.followers.map(({ ends }) => ends.length)
    for (const each of [fault, ...(fault.meanwhile ?? [])]) {
      await each.run(of, sample)
      await of.flows(2)
    }
    await of.caughtUp()
    await sample('quiet')
    outcomes.push({
      fault,
      seconds: (performance.now() - begun) / 1_000,
      items: of.followers.map(({ items }) => items.length),
      ends: of.followers.map(({ ends }, i) => ends.slice(before[i])),
    })
  }
  const findings = await of.judge()
  const complaints = outcomes.flatMap(({ fault, ends }) =>
    ends.flatMap((each, i) =>
      each.length === (fault.ends ? 1 : 0) && each.every((end) => end.startsWith(fault.ends ?? ''))
        ? []
        : [`${languages[i]} ended ${each.length} times after ${fault.name}: ${each.join(', ')}`],
    ),
  )
  printOutcomes(outcomes, findings)
  const texts = findings.flatMap((each, i) =>
    each.slice(0, 20).map(({ kind, text }) => `${languages[i]}: ${kind}: ${text}`),
  )
  return [...complaints, ...texts, ...(await of.end())]
}

/** Prints a row for each kind of fault: how often it came, its mean time, and what it did to each client. */
function printOutcomes(outcomes: readonly Outcome[], findings: readonly (readonly Finding[])[]): void {
  const rows = outcomes.map(({ fault, seconds, items, ends }, i) => {
    const before = outcomes[i - 1]?.items ?? [0, 0]
    const end = i === outcomes.length - 1 ? Number.POSITIVE_INFINITY : 0
    const met = languages.map((_, client) => {
      const to = Math.max(end, items[client] ?? 0)
      const found = (findings[client] ?? []).filter(({ at }) => at >= (before[client] ?? 0) && at < to)
      const counts = findingKinds.map((kind) => found.filter((each) => each.kind === kind).length)
      return [(items[client] ?? 0) - (before[client] ?? 0), ...counts, ends[client]?.length ?? 0]
    })
    const name = [fault, ...(fault.meanwhile ?? [])].map((each) => each.name).join(', ')
    return { name, numbers: [1, seconds, ...met.flat()] }
  })
  const byName = [...Map.groupBy(rows, ({ name }) => name)].map(([name, of]) => {
    const sums = (of[0]?.numbers ?? []).map((_, i) => of.reduce((sum, row) => sum + (row.numbers[i] ?? 0), 0))
    const [times = 0, seconds = 0, ...met] = sums
    return [name, String(times), (seconds / times).toFixed(1), ...met.map(String)]
  })
  const ofClient = languages.flatMap((language) => [`${language}: items`, ...findingKinds, 'ends'])
  printTable(['fault', 'times', 'seconds', ...ofClient], byName)
}
