/**
 * The whole market of one minute, from four collectors to many sockets: 1,622 + 3 × 230 symbols, once a minute at the
 * real second and back to back, through the processes of a cluster and through `fxd all`. A program in C reads
 * the sockets. Times count from the moment at which the collectors begin to send.
 * Run: bin/node test/bench/minute.ts [short | profile] [minutes of each = 5]
 */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../services/platform/system-clock.ts'
import { run } from '../acceptance/client/command.ts'
import { startCluster } from '../support/cluster/cluster.ts'
import { freePorts } from '../support/free-ports.ts'
import { startService } from '../support/processes/service-process.ts'
import { metricOf } from './bench-feed.ts'
import { machine, ms, printTable, quantile } from './figures.ts'
import { cpuMs } from './minute/cpu-time.ts'
import { makeMarketHome, market, marketSymbols, messagesOf, openSessions } from './minute/market.ts'
import { Profiler } from './minute/profile.ts'
import { type Arrival, SocketReader } from './minute/socket-reader.ts'

const given = process.argv.slice(2)
const isShort = given.includes('short')
const isProfile = given.includes('profile')
const minutes = Number(given.find((each) => /^\d+$/.test(each)) ?? 5)
const warmUps = 2
const perSocket = 200
const clusterSockets = 500
const allSockets = 1_000
const burstDeadlineMs = 30_000
const firstSocketDeadlineMs = 60_000
const visibleDeadlineMs = 10_000
/** Processes are measured until this long after a burst. */
const burstEndMs = 2_000
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6
const repository = fileURLToPath(new URL('../..', import.meta.url))

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

/** A service under test. */
interface Subject {
  readonly name: string
  readonly sockets: number
  readonly httpPort: number
  readonly grpc: string
  readonly token: string
  readonly issuer: string
  /** Where history is read, by name. */
  readonly readers: Readonly<Record<string, number>>
  /** Processes by name. */
  readonly pids: () => Readonly<Record<string, number>>
  readonly opsOfIngest: string
  /** Inspectors of processes, by name. */
  readonly inspectors: Readonly<Record<string, number>>
  stop(): Promise<unknown>
}

const inspect = (port: number): string => `--inspect=127.0.0.1:${port}`

async function startAll(home: string): Promise<Subject> {
  const [port = 0] = await freePorts(1)
  const env = isProfile ? { NODE_OPTIONS: inspect(port) } : {}
  const service = await startService(home, { store: 'embedded', env })
  process.once('exit', () => service.process.kill())
  const { target } = service
  const httpPort = Number(new URL(target.url).port)
  return {
    name: 'fxd all',
    sockets: allSockets,
    httpPort,
    grpc: target.grpc,
    token: target.token,
    issuer: target.issuer,
    readers: { all: httpPort },
    pids: () => ({ 'fxd all': service.process.pid ?? 0 }),
    opsOfIngest: target.ops,
    inspectors: isProfile ? { 'fxd all': port } : {},
    stop: () => service.stop(),
  }
}

async function startProcesses(home: string): Promise<Subject> {
  const names = ['ingest-1', 'stream-1', 'stream-2', 'rest-1', 'rest-2']
  const ports = await freePorts(names.length)
  const cluster = await startCluster({
    rest: 2,
    stream: 2,
    ingest: 1,
    feeds: join(home, 'feeds'),
    questdbSettings: { QDB_SHARED_WORKER_COUNT: '4' },
    podEnv: (name) => (isProfile ? { NODE_OPTIONS: inspect(ports[names.indexOf(name)] ?? 0) } : {}),
  })
  const assigned = Object.entries(cluster.commandEnv).map(([name, value]) => `${name}='${value}'`)
  return {
    name: 'cluster',
    sockets: clusterSockets,
    httpPort: cluster.httpPort,
    grpc: `127.0.0.1:${cluster.grpcPort}`,
    token: cluster.token,
    issuer: `${assigned.join(' ')} '${join(repository, 'bin/node')}' '${join(repository, 'services/main.ts')}' keys`,
    readers: { 'rest-1': cluster.pod('rest-1').port, 'rest-2': cluster.pod('rest-2').port },
    pids: () => ({
      ...Object.fromEntries(cluster.pods.map(({ name, program }) => [name, program.pid])),
      questdb: cluster.questdb.pid,
      redis: cluster.redis.pid,
      haproxy: cluster.balancer.pid,
    }),
    opsOfIngest: `http://127.0.0.1:${cluster.pod('ingest-1').opsPort}`,
    inspectors: isProfile ? { 'ingest-1': ports[0] ?? 0, 'stream-1': ports[1] ?? 0 } : {},
    stop: () => cluster.stop(),
  }
}

/** A key that no limit refuses. */
async function issueKey({ issuer }: Subject): Promise<string> {
  const feeds = market.map(({ feed }) => feed).join(',')
  const limits = ['--rpm', '1000000', '--rpd', '10000000', '--ws-connections', '10000', '--ws-symbols', '500']
  const args = ['create', '--plan', 'enterprise', '--feeds', feeds, ...limits, '--json']
  const { code, stdout, stderr } = await run(issuer, args)
  if (code !== 0) throw new Error(`no key was issued (${code}): ${stderr}`)
  return (JSON.parse(stdout) as { key: string }).key
}

/** A new Redis gives no slots at first. */
async function firstSocket(url: string): Promise<void> {
  const begun = monotonicMs()
  for (;;) {
    const socket = new WebSocket(url)
    const opened = await new Promise<boolean>((resolve) => {
      socket.addEventListener('open', () => resolve(true))
      socket.addEventListener('error', () => resolve(false))
    })
    socket.close()
    if (opened) return
    if (monotonicMs() - begun > firstSocketDeadlineMs) throw new Error(`no socket opens at ${url}`)
    await systemClock.sleep(500)
  }
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
await measure(startProcesses)
await measure(startAll)
