/**
 * The whole market of one minute, from four collectors to many sockets: 1,622 + 3 × 230 symbols, once a minute at the
 * real second and back to back, through the processes of a cluster and through `fxd all`. A program in C reads
 * the sockets. Times count from the moment at which the collectors begin to send.
 * Run: bin/node test/bench/minute.ts [short | profile] [minutes of each = 5]
 */

import { systemClock } from '../../services/platform/system-clock.ts'
import { run } from '../acceptance/client/command.ts'
import { metricOf } from './bench-feed.ts'
import { machine, ms, printTable, quantile } from './figures.ts'
import { firstSocket } from './first-socket.ts'
import { cpuMs } from './minute/cpu-time.ts'
import { makeMarketHome, market, marketSymbols, messagesOf, openSessions } from './minute/market.ts'
import { Profiler } from './minute/profile.ts'
import { type Arrival, SocketReader } from './minute/socket-reader.ts'
import { type Subject, startAll, startProcesses } from './minute/subjects.ts'

const given = process.argv.slice(2)
const isShort = given.includes('short')
const isProfile = given.includes('profile')
const minutes = Number(given.find((each) => /^\d+$/.test(each)) ?? 5)
const warmUps = 2
const perSocket = 200
const burstDeadlineMs = 30_000
const visibleDeadlineMs = 10_000
/** Processes are measured until this long after a burst. */
const burstEndMs = 2_000
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6

type Cadence = 'once a minute' | 'back to back'
interface Form {
  readonly cadence: Cadence
  readonly messages: 4 | 40
  /** Whether the collectors can send again what was lost: their bars are published before their commit. */
  readonly isRereadable: boolean
}
const real: Form = { cadence: 'once a minute', messages: 4, isRereadable: true }
const forms: readonly Form[] = isShort
  ? [real]
  : [
      { cadence: 'back to back', messages: 4, isRereadable: true },
      { cadence: 'back to back', messages: 40, isRereadable: true },
      { cadence: 'back to back', messages: 4, isRereadable: false },
      real,
      { ...real, messages: 40 },
      { ...real, isRereadable: false },
    ]

/** A key that no limit refuses. */
async function issueKey({ issuer }: Subject): Promise<string> {
  const feeds = market.map(({ feed }) => feed).join(',')
  const limits = ['--rpm', '1000000', '--rpd', '10000000', '--ws-connections', '10000', '--ws-symbols', '500']
  const args = ['create', '--plan', 'enterprise', '--feeds', feeds, ...limits, '--json']
  const { code, stdout, stderr } = await run(issuer, args)
  if (code !== 0) throw new Error(`no key was issued (${code}): ${stderr}`)
  return (JSON.parse(stdout) as { key: string }).key
}

/** When each process that answers history has the last symbol of each feed for this minute. */
async function visibleAt(subject: Subject, key: string, minute: number): Promise<number> {
  const headers = { 'X-API-Key': key }
  const times = Object.values(subject.readers).flatMap((port) =>
    market.map(async ({ feed, names }) => {
      const symbol = `${feed}:${names.at(-1)}`
      const url = `http://127.0.0.1:${port}/v1/history?symbol=${symbol}&resolution=1&countback=1`
      const end = monotonicMs() + visibleDeadlineMs
      while (monotonicMs() < end) {
        const answer = (await (await fetch(url, { headers })).json()) as { t?: number[] }
        if (answer.t?.[0] === minute) return monotonicMs()
        await systemClock.sleep(10)
      }
      throw new Error(`${url} had no bar of ${minute}`)
    }),
  )
  return Math.max(...(await Promise.all(times)))
}

interface Burst {
  readonly frames: Arrival
  readonly acks: readonly number[]
  readonly visible: number
  /** Milliseconds of the processor, by process, above its idle use. */
  readonly cpu: Readonly<Record<string, number>>
  /** Receipt at ingest to the reply of the bus, mean over its publications. */
  readonly push: number
}

class Bench {
  readonly #subject: Subject
  readonly #key: string
  readonly #sockets: SocketReader
  /** The open time of the last minute that was sent. */
  #minute: number

  constructor(subject: Subject, key: string, sockets: SocketReader, bursts: number) {
    this.#subject = subject
    this.#key = key
    this.#sockets = sockets
    this.#minute = (Math.floor(systemClock.utcMs() / 60_000) - 2 - bursts) * 60
  }

  async burst(
    sessions: Awaited<ReturnType<typeof openSessions>>,
    { cadence, messages }: Form,
    withProfile: boolean,
  ): Promise<Burst> {
    if (cadence === 'once a minute') await systemClock.sleep(60_000 - (systemClock.utcMs() % 60_000))
    const minute =
      cadence === 'once a minute' ? Math.floor(systemClock.utcMs() / 60_000) * 60 - 60 : this.#minute + 60
    this.#minute = minute
    const ordered = messagesOf(minute, messages)
    const before = this.#cpu()
    const pushed = await this.#pushed()
    const profilers = withProfile ? await this.#attach() : []
    const signal = AbortSignal.timeout(burstDeadlineMs)
    const deadline = new Promise<never>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('a burst did not arrive'))),
    )
    const arrived = this.#sockets.expect(this.#subject.sockets * perSocket)
    const begun = monotonicMs()
    const acks = ordered.map(async ([index, series]) => {
      const { accepted, refused } = await (sessions[index] as (typeof sessions)[number]).bars('LIVE', [
        ...series,
      ])
      if (accepted !== series.length) throw new Error(`${accepted} accepted: ${JSON.stringify(refused[0])}`)
      return monotonicMs() - begun
    })
    const all = Promise.all([arrived, Promise.all(acks), visibleAt(this.#subject, this.#key, minute)])
    const [frames, ackTimes, visible] = await Promise.race([all, deadline])
    await systemClock.sleep(cadence === 'once a minute' ? burstEndMs : 100)
    for (const { name, profiler } of profilers) {
      const times = await profiler.end()
      console.log(
        `\n${name}, time of functions over one burst (${ms(times.reduce((sum, each) => sum + each.ms, 0))}):`,
      )
      for (const { name: fn, ms: took } of times.slice(0, 18))
        console.log(`${took.toFixed(1).padStart(8)} ms  ${fn}`)
      profiler.close()
    }
    const after = this.#cpu()
    const since = await this.#pushed()
    return {
      frames: { p50: frames.p50 - begun, p99: frames.p99 - begun, max: frames.max - begun },
      acks: ackTimes,
      visible: visible - begun,
      cpu: Object.fromEntries(Object.entries(after).map(([name, at]) => [name, at - (before[name] ?? 0)])),
      push: ((since.sum - pushed.sum) / Math.max(1, since.count - pushed.count)) * 1_000,
    }
  }

  async #attach(): Promise<{ name: string; profiler: Profiler }[]> {
    const all: { name: string; profiler: Profiler }[] = []
    for (const [name, port] of Object.entries(this.#subject.inspectors)) {
      const profiler = await Profiler.attach(port)
      await profiler.begin()
      all.push({ name, profiler })
    }
    return all
  }

  #cpu(): Readonly<Record<string, number>> {
    const pids = { ...this.#subject.pids(), 'socket reader': this.#sockets.pid }
    return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuMs(pid)]))
  }

  async #pushed(): Promise<{ sum: number; count: number }> {
    const target = { target: { ops: this.#subject.opsOfIngest } }
    const [sum = 0, count = 0] = await Promise.all(
      ['sum', 'count'].map((of) => metricOf(target, `fxd_ingest_push_seconds_${of}`)),
    )
    return { sum, count }
  }
}

const of = (values: readonly number[], q: number): string => ms(quantile(values, q))

function row(form: Form, bursts: readonly Burst[]): string[] {
  const { cadence, messages, isRereadable } = form
  const acks = bursts.flatMap((each) => each.acks)
  const all = (pick: (burst: Burst) => number): number[] => bursts.map(pick)
  return [
    `${cadence}, ${messages} messages, ${isRereadable ? 'resending' : 'Push'}`,
    of(
      all(({ frames }) => frames.p50),
      0.5,
    ),
    of(
      all(({ frames }) => frames.p99),
      0.5,
    ),
    of(
      all(({ frames }) => frames.max),
      1,
    ),
    of(acks, 0.5),
    of(acks, 0.99),
    of(
      all(({ visible }) => visible),
      0.5,
    ),
    of(
      all(({ visible }) => visible),
      1,
    ),
    of(
      all(({ push }) => push),
      0.5,
    ),
  ]
}

const cpuRow = (form: Form, bursts: readonly Burst[], names: readonly string[]): string[] => [
  `${form.cadence}, ${form.messages} messages, ${form.isRereadable ? 'resending' : 'Push'}`,
  ...names.map((name) =>
    of(
      bursts.map(({ cpu }) => cpu[name] ?? 0),
      0.5,
    ),
  ),
]

async function measure(start: (home: string) => Promise<Subject>): Promise<void> {
  const { home, discard } = makeMarketHome()
  let subject: Subject | undefined
  try {
    subject = await start(home)
    const key = await issueKey(subject)
    const path = `/v1/stream?api_key=${key}`
    // The sockets subscribe to symbols that a catalogue has named.
    for (const session of await openSessions(subject.grpc, subject.token, true)) await session.close()
    await firstSocket(`ws://127.0.0.1:${subject.httpPort}${path}`)
    const order = { sockets: subject.sockets, perSocket, symbols: marketSymbols }
    const sockets = await SocketReader.open(subject.httpPort, path, order)
    const bench = new Bench(subject, key, sockets, forms.length * (warmUps + minutes))
    const rows: string[][] = []
    const cpuRows: string[][] = []
    let names: string[] = []
    for (const form of forms) {
      const sessions = await openSessions(subject.grpc, subject.token, form.isRereadable)
      const bursts: Burst[] = []
      const unmeasured = form.cadence === 'once a minute' ? 1 : warmUps
      for (let n = 0; n < unmeasured + minutes; n++) {
        const isLast = n === unmeasured + minutes - 1
        const burst = await bench.burst(sessions, form, isProfile && isLast && form === real)
        if (n >= unmeasured) bursts.push(burst)
      }
      rows.push(row(form, bursts))
      names = Object.keys(bursts[0]?.cpu ?? {})
      cpuRows.push(cpuRow(form, bursts, names))
      for (const session of sessions) await session.close()
    }
    console.log(
      `\n${subject.name}: ${marketSymbols.length} symbols, ${subject.sockets} sockets × ${perSocket}`,
    )
    printTable(
      [
        'bursts',
        'frames p50',
        'frames p99',
        'last frame, max',
        'acks p50',
        'acks p99',
        'visible p50',
        'visible max',
        'receipt to bus',
      ],
      rows,
    )
    console.log('processor time of a burst, median, idle use included')
    printTable(['bursts', ...names], cpuRows)
    await sockets.close()
  } finally {
    await subject?.stop()
    discard()
  }
}

console.log(`${machine()}; ${minutes} minutes of each form`)
await measure((home) => startProcesses(home, isProfile))
await measure((home) => startAll(home, isProfile))
