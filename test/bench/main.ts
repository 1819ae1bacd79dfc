/**
 * Measures speed and size at the loads that count: `npm run -s bench [-- name …]`, by default all of them but
 * those that take an hour. A slow figure is told, never a failure; a bench that cannot run is one.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { machine, printTable } from './figures.ts'

/** By name, which is the file's; the value says what is measured. */
const benches = new Map([
  ['history', 'whole requests of 10,000 bars, beside the usual handler'],
  ['import', 'fxd import into a running service'],
  ['push', 'a minute from its collector to the last of all sockets'],
  ['backfill', 'a live minute alone and beside a backfill of three months'],
  ['start', 'a start with five million bars, the first start, memory'],
  ['fan-out', 'the stream alone, beside one send per bar and socket'],
  ['embedded-store', 'the embedded store alone'],
  ['cluster', 'a minute through the cluster, from its collector to 200 sockets, by stage'],
  ['rate-decisions', 'rate decisions over Redis, beside a command per window and beside PING'],
  ['questdb', 'rates into QuestDB, and history beside the bare store and pg'],
])
const onlyByName = new Map([
  ['questdb-layout', 'layouts of QuestDB side by side; takes an hour and 30 GB of disk'],
])

interface Size {
  readonly what: string
  readonly goal: string
  readonly bench: string
  /** Finds the figure in what the bench prints. */
  readonly figure: RegExp
}
const sizes: readonly Size[] = [
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
    what: '10,000 bars over QuestDB beyond its own time, median',
    goal: '≤ 1.5 ms',
    bench: 'questdb',
    figure: /^10,000 bars: whole request(?:\s+\S+ ms){3}\s+(\S+ ms)/m,
  },
]

/** Runs one bench as its command would; gives what it printed, `undefined` when it failed. */
async function run(name: string): Promise<string | undefined> {
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  console.log(`\n${name}: ${benches.get(name) ?? onlyByName.get(name)}\n$ bin/node test/bench/${name}.ts`)
  const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    process.stdout.write(text)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code === 0) return printed
  console.log(`${name} ended with ${code}`)
  process.exitCode = 1
  return undefined
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : [...benches.keys()]
const known = [...benches.keys(), ...onlyByName.keys()]
const strange = wanted.find((name) => !known.includes(name))
if (strange !== undefined) {
  console.error(`${strange} is no bench; there are ${known.join(', ')}.`)
  process.exit(2)
}

console.log(machine())
const printed = new Map<string, string | undefined>()
for (const name of new Set(wanted)) printed.set(name, await run(name))

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
