/**
 * Measures speed and size at the relevant loads: `npm run -s bench [-- name …]`. By default it runs the benches with a
 * goal, within an hour; `full` adds the comparisons. A missed goal is printed and is no failure. A bench that cannot
 * run is a failure.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { machine, printTable, seconds } from './support/figures.ts'

interface Bench {
  readonly what: string
  /** Arguments that are shorter than the defaults of the bench. */
  readonly args?: readonly string[]
}
/** Benches by name, which is the name of the file. */
const benches = new Map<string, Bench>([
  ['history', { what: 'whole requests of 10,000 bars, beside the usual handler' }],
  ['import', { what: 'fxd import into a running service' }],
  ['push', { what: 'a minute from its collector to the last of all sockets' }],
  ['backfill', { what: 'a live minute alone and beside a backfill of three months' }],
  ['start', { what: 'a start with five million bars, the first start, memory', args: ['5000000', '3'] }],
  ['cluster', { what: 'a minute through the cluster, from its collector to 200 sockets, by stage' }],
  ['page', { what: 'the page in a browser: its start, a chart of a million bars, a wall of 1,622 symbols' }],
  ['rate-decisions', { what: 'rate decisions over Redis, beside a command per window and beside PING' }],
  ['questdb', { what: 'rates into QuestDB, and history beside the bare store and pg' }],
  ['misuse', { what: 'what an attacker does to another client: some attacks once each', args: ['short'] }],
  // The next ones are mostly real minutes.
  ['reconnect', { what: 'a rollout of all shards under 5,000 sockets, which return with `since`' }],
  [
    'terminal',
    { what: 'live bars and history from a terminal, whose program posts in real time', args: ['5', '4'] },
  ],
  // More than half an hour: most of it is real minutes.
  ['minute', { what: 'the whole market of one minute, through a cluster and through fxd all' }],
])
/** Benches without a goal. */
const comparisons = new Map<string, Bench>([
  ['rows', { what: '1,622 symbols over one socket: rows beside single frames' }],
  ['fan-out', { what: 'the stream alone, beside one send per bar and socket' }],
  ['embedded-store', { what: 'the embedded store alone' }],
  ['backfill-questdb', { what: 'backfill through a collector into QuestDB, beside the earlier release' }],
])
const onlyByName = new Map<string, Bench>([
  ['outage', { what: 'half an hour without the store under the whole market', args: ['stopped'] }],
  ['rest-pod', { what: 'requests a second of one rest pod in a cluster, and their CPU' }],
  ['questdb-layout', { what: 'layouts of QuestDB side by side; takes an hour and 30 GB of disk' }],
])
const all = new Map([...benches, ...comparisons, ...onlyByName])

interface Size {
  readonly what: string
  readonly goal: string
  readonly bench: string
  /** Matches the figure in the output of the bench. */
  readonly figure: RegExp
}
const sizes: readonly Size[] = [
  {
    what: 'the page and a chart from a cold cache, bytes',
    goal: '≤ 120,000',
    bench: 'page',
    figure: /^bytes of a cold start, compressed\s+(\S+)/m,
  },
  {
    what: 'a frame with a million bars, beside 10,000',
    goal: '≤ 1.5 ×',
    bench: 'page',
    figure: /^the same, beside each other\s+(\S+ ×)/m,
  },
  {
    what: 'cells of the wall that differ from coverage',
    goal: '0',
    bench: 'page',
    figure: /^its cells that differ from coverage\s+(\S+)/m,
  },
  {
    what: '10,000-bar countback, median',
    goal: '≤ 15 ms',
    bench: 'history',
    figure: /^10,000 bars of 1 {2,}(\S+ ms)/m,
  },
  {
    what: 'import into an empty series',
    goal: '≥ 150,000 bars/s',
    bench: 'import',
    figure: /^into an empty series\s+(\S+ bars\/s)/m,
  },
  {
    what: 'import of an identical file',
    goal: '≥ 250,000 bars/s',
    bench: 'import',
    figure: /^the identical file again\s+(\S+ bars\/s)/m,
  },
  {
    what: '500 sockets × 200 symbols, last byte, p99',
    goal: '≤ 100 ms',
    bench: 'push',
    figure: /^500 × 200\s+\S+ ms\s+(\S+ ms)/m,
  },
  {
    what: 'a live minute beside a backfill of 200 symbols, p50 added',
    goal: '≤ 20 ms',
    bench: 'backfill',
    figure: /^added\s+\S+ ms\s+\S+ ms\s+(\S+ ms)/m,
  },
  {
    what: 'ready with five million bars, slowest start',
    goal: '≤ 10 s',
    bench: 'start',
    figure: /: ready after\s+\S+ s\s+(\S+ s)\s+≤/m,
  },
  {
    what: 'resident memory with five million bars',
    goal: '≤ 500 MiB',
    bench: 'start',
    figure: /: resident then\s+\S+ MiB\s+(\S+ MiB)/m,
  },
  {
    what: 'resident memory, demo feeds, most while seeding',
    goal: '≤ 500 MiB',
    bench: 'start',
    figure: /^resident after seeding.*?\d+ MiB\s+(\d+ MiB)/m,
  },
  {
    what: '2,000 bars of a minute, receipt to bus, median',
    goal: '≤ 20 ms',
    bench: 'cluster',
    figure: /^2000 in 1 message\s+(\S+ ms)/m,
  },
  {
    what: '2,000 bars of a minute acked by the cluster, median',
    goal: '≤ 100 ms',
    bench: 'cluster',
    figure: /^2000 in 1 message.*?(\S+ ms) \/ \S+ ms$/m,
  },
  {
    what: '100 decisions in flight, p95',
    goal: '≤ 3.5 ms',
    bench: 'rate-decisions',
    figure: /^100 in flight, fxd.*?(\S+ ms)$/m,
  },
  {
    what: 'backfill into QuestDB',
    goal: '≥ 100,000 bars/s',
    bench: 'questdb',
    figure: /^backfill of .*?the store alone\s+(\S+ bars\/s)/m,
  },
  {
    what: '2,000 bars of a minute acked, QuestDB with sync',
    goal: '≤ 100 ms',
    bench: 'questdb',
    figure: /one minute, sync: acked\s+(\S+ ms)/m,
  },
  {
    what: 'attacks that harm nobody else',
    goal: 'all',
    bench: 'misuse',
    figure: /^goals met by (\d+ of \d+) attacks/m,
  },
  {
    what: '10,000 bars over QuestDB beyond its own time, median',
    goal: '≤ 1.5 ms',
    bench: 'questdb',
    figure: /^10,000 bars: whole request(?:\s+\S+ ms){3}\s+(\S+ ms)/m,
  },
  {
    what: 'the whole market once a minute, cluster, 500 × 200, frames p99',
    goal: '≤ 100 ms',
    bench: 'minute',
    figure: /^cluster: frames p99 {2,}(\S+ ms)/m,
  },
  {
    what: 'the same by Push collectors, frames p99 after the commit',
    goal: '≤ 40 ms',
    bench: 'minute',
    figure: /^cluster: frames p99 after the commit.*? {2,}(\S+ ms)/m,
  },
  {
    what: 'the same, CPU of ingest per live bar',
    goal: '≤ 20 µs',
    bench: 'minute',
    figure: /^cluster: CPU of ingest-1 per bar, without idle use\s+(\S+ µs)/m,
  },
  {
    what: 'the same, acks p99 (and the goal of the run)',
    goal: '≤ 50 ms + 1.5 × commit alone',
    bench: 'minute',
    figure: /^cluster: acks p99\s+(\S+ ms\s+≤ \S+ ms)/m,
  },
  {
    what: 'the same, visible on all pods, slowest',
    goal: '≤ 500 ms',
    bench: 'minute',
    figure: /^cluster: visible on all pods, max\s+(\S+ ms)/m,
  },
  {
    what: 'the whole market once a minute, fxd all, 1,000 × 200, frames p99',
    goal: '≤ 60 ms',
    bench: 'minute',
    figure: /^fxd all: frames p99\s+(\S+ ms)/m,
  },
  {
    what: '5,000 sockets × 20 return from a rollout, last replay',
    goal: '≤ 40 s',
    bench: 'reconnect',
    figure: /^last replay, slowest {2,}(\S+ s)/m,
  },
  {
    what: 'live bars meanwhile, at sockets not closed yet, frames p99',
    goal: '≤ 150 ms',
    bench: 'reconnect',
    figure: /^live bars meanwhile, worst p99 {2,}(\S+ ms)/m,
  },
  {
    what: '1,622 symbols of a terminal, first tick to frame, p99',
    goal: '≤ 200 ms',
    bench: 'terminal',
    figure: /^frames p99, worst minute {2,}(\S+ ms)/m,
  },
  {
    what: 'the same while history is read',
    goal: '≤ 1.5 times',
    bench: 'terminal',
    figure: /^beside history: times alone, median p99 {2,}(\S+)/m,
  },
  {
    what: 'history of a terminal, embedded store',
    goal: '≥ 100,000 bars/s',
    bench: 'terminal',
    figure: /^history, embedded store {2,}(\S+ bars\/s)/m,
  },
  {
    what: 'history of a terminal, QuestDB, of fxd import',
    goal: '≥ 90 %',
    bench: 'terminal',
    figure: /^history, QuestDB, of fxd import {2,}(\S+ %)/m,
  },
  {
    what: 'history of a terminal, line of 50 ms',
    goal: '≥ 20,000 bars/s',
    bench: 'terminal',
    figure: /^history, line of 50 ms {2,}(\S+ bars\/s)/m,
  },
]

/** Runs one bench as a command. Returns its output, or `undefined` when it failed. */
async function run(name: string, args: readonly string[]): Promise<string | undefined> {
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  const command = ['bin/node', `test/bench/${name}.ts`, ...args].join(' ')
  console.log(`\n${name}: ${all.get(name)?.what}\n$ ${command}`)
  const begun = performance.now()
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    process.stdout.write(text)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  console.log(`${name} ended after ${seconds(performance.now() - begun)}`)
  if (code === 0) return printed
  console.log(`${name} failed with ${code}`)
  process.exitCode = 1
  return undefined
}

const given = process.argv.slice(2)
const isFull = given.length === 1 && given[0] === 'full'
const wanted = isFull
  ? [...benches.keys(), ...comparisons.keys()]
  : given.length > 0
    ? given
    : [...benches.keys()]
const strange = wanted.find((name) => !all.has(name))
if (strange !== undefined) {
  console.error(`got the bench "${strange}", expected full, or some of ${[...all.keys()].join(', ')}`)
  process.exit(2)
}

console.log(machine())
const begun = performance.now()
const printed = new Map<string, string | undefined>()
for (const name of new Set(wanted))
  printed.set(name, await run(name, isFull ? [] : (all.get(name)?.args ?? [])))
console.log(`\nall ended after ${seconds(performance.now() - begun)}`)

const measured = sizes.filter(({ bench }) => printed.has(bench))
if (measured.length > 0) {
  console.log()
  printTable(
    ['size to reach', 'goal', 'measured', 'by'],
    measured.map(({ what, goal, bench, figure }) => [
      what,
      goal,
      figure.exec(printed.get(bench) ?? '')?.[1] ?? 'not measured',
      bench,
    ]),
  )
}
