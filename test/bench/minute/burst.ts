import { systemClock } from '../../../services/platform/system-clock.ts'
import { metricOf } from '../support/bench-feed.ts'
import { ms } from '../support/figures.ts'
import { cpuMs } from './cpu-time.ts'
import type { Form } from './forms.ts'
import { messagesOf, type openSessions } from './market.ts'
import { monotonicMs } from './monotonic.ts'
import { Profiler } from './profile.ts'
import type { Arrival, SocketReader } from './socket-reader.ts'
import type { Subject } from './subjects.ts'
import { visibleAt } from './visible.ts'

export const perSocket = 200
const burstDeadlineMs = 30_000
/** Processes are measured until this long after a burst. */
export const burstEndMs = 2_000
const functionsMax = 18

/** Milliseconds from the start of sending, except `begun` and `ended`: those are of the monotonic clock. */
export interface Burst {
  readonly begun: number
  readonly ended: number
  readonly frames: Arrival
  readonly acks: readonly number[]
  readonly visible: number
  /** Milliseconds of CPU, by process, idle use included. */
  readonly cpu: Readonly<Record<string, number>>
  /** Receipt at ingest to the reply of the bus, mean over its publications. */
  readonly push: number
}

export type Cpu = Readonly<Record<string, number>>

/** Milliseconds of CPU since `before`, by process. */
export const cpuSince = (before: Cpu, after: Cpu): Cpu =>
  Object.fromEntries(Object.entries(after).map(([name, at]) => [name, at - (before[name] ?? 0)]))

/** Sends minutes to a subject, each later than the one before. */
export class Bursts {
  readonly #subject: Subject
  readonly #key: string
  readonly #sockets: SocketReader
  readonly #nextMinute: () => number

  /** `nextMinute` returns the open time of the next minute to send. */
  constructor(subject: Subject, key: string, sockets: SocketReader, nextMinute: () => number) {
    this.#subject = subject
    this.#key = key
    this.#sockets = sockets
    this.#nextMinute = nextMinute
  }

  /** CPU of all processes since their start. */
  cpu(): Cpu {
    const pids = { ...this.#subject.pids(), 'socket reader': this.#sockets.pid }
    return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuMs(pid)]))
  }

  /** Resolves once all sockets have the bars, all messages are acked and all pods answer with the bars. */
  async send(
    sessions: Awaited<ReturnType<typeof openSessions>>,
    { cadence, messages }: Form,
    withProfile: boolean,
  ): Promise<Burst> {
    if (cadence === 'once a minute') await systemClock.sleep(60_000 - (systemClock.utcMs() % 60_000))
    const minute = this.#nextMinute()
    const ordered = messagesOf(minute, messages)
    const pushed = await this.#pushed()
    const profilers = withProfile ? await this.#attach() : []
    const before = this.cpu()
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
    // Requests of history would delay the frames.
    const seen = arrived.then(() => visibleAt(this.#subject.readers, this.#key, minute))
    const [frames, ackTimes, visible] = await Promise.race([
      Promise.all([arrived, Promise.all(acks), seen]),
      deadline,
    ])
    await systemClock.sleep(cadence === 'once a minute' ? burstEndMs : 100)
    await printProfiles(profilers)
    const cpu = cpuSince(before, this.cpu())
    const since = await this.#pushed()
    return {
      begun,
      ended: monotonicMs(),
      frames: { p50: frames.p50 - begun, p99: frames.p99 - begun, max: frames.max - begun },
      acks: ackTimes,
      visible: visible - begun,
      cpu,
      push: ((since.sum - pushed.sum) / Math.max(1, since.count - pushed.count)) * 1_000,
    }
  }

  async #attach(): Promise<Attached[]> {
    const all: Attached[] = []
    for (const [name, port] of Object.entries(this.#subject.inspectors)) {
      const profiler = await Profiler.attach(port)
      await profiler.begin()
      all.push({ name, profiler })
    }
    return all
  }

  async #pushed(): Promise<{ sum: number; count: number }> {
    const target = { target: { ops: this.#subject.opsOfIngest } }
    const [sum = 0, count = 0] = await Promise.all(
      ['sum', 'count'].map((of) => metricOf(target, `fxd_ingest_push_seconds_${of}`)),
    )
    return { sum, count }
  }
}

interface Attached {
  readonly name: string
  readonly profiler: Profiler
}

async function printProfiles(profilers: readonly Attached[]): Promise<void> {
  for (const { name, profiler } of profilers) {
    const times = await profiler.end()
    const total = ms(times.reduce((sum, each) => sum + each.ms, 0))
    console.log(`\n${name}, time of functions over one burst (${total}):`)
    for (const { name: fn, ms: took } of times.slice(0, functionsMax))
      console.log(`${took.toFixed(1).padStart(8)} ms  ${fn}`)
    profiler.close()
  }
}
