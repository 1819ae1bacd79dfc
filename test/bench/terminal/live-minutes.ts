import { systemClock } from '../../../services/platform/system-clock.ts'
import { monotonicMs } from '../minute/monotonic.ts'
import { type Arrival, SocketReader } from '../minute/socket-reader.ts'
import { issueBenchKey, keyOf } from '../support/bench-feed.ts'
import { rawNames, TerminalBench } from './terminal-bench.ts'

const symbols = 1_622
const sockets = 4
/** Bars of each symbol with which all are live: first a collector reads those of the last six hours of all symbols. */
const firstBars = 6 * 60 + 60
const depthDays = 90
const startDeadlineMs = 240_000
const minuteMs = 60_000
const minuteDeadlineMs = 30_000

/** Milliseconds from the first tick of the new minute to the frames of its end, one row for each minute. */
export interface LiveMinutes {
  readonly alone: readonly Arrival[]
  readonly besideHistory: readonly Arrival[]
  /** Bars of history in a second meanwhile. */
  readonly historyRate: number
  readonly refused: string
}

/** What is added to a time of the wall clock for that of the monotonic clock; read often, since it counts whole milliseconds. */
function monotonicOffset(): number {
  const begun = monotonicMs()
  let offset = Number.POSITIVE_INFINITY
  while (monotonicMs() - begun < 3) offset = Math.min(offset, monotonicMs() - systemClock.utcMs())
  return offset
}

/** The end of the next minute: the first symbol ticks at its first millisecond. */
async function nextMinute(reader: SocketReader): Promise<Arrival> {
  const end = (Math.floor((systemClock.utcMs() + 10_000) / minuteMs) + 1) * minuteMs
  await systemClock.sleep(end - 5_000 - systemClock.utcMs())
  const begun = end + monotonicOffset()
  const arrived = reader.expect(symbols)
  const late = systemClock.sleep(5_000 + minuteDeadlineMs).then(() => undefined)
  const frames = await Promise.race([arrived, late])
  if (!frames)
    throw new Error(`the frames of a minute did not all arrive within ${minuteDeadlineMs / 1_000} s`)
  return { p50: frames.p50 - begun, p99: frames.p99 - begun, max: frames.max - begun }
}

async function minutesOf(count: number, reader: SocketReader): Promise<Arrival[]> {
  const all: Arrival[] = []
  for (let n = 0; n < count; n++) all.push(await nextMinute(reader))
  return all
}

/** Sockets that have all symbols together, opened in the middle of a minute. */
async function openSockets({ service }: TerminalBench): Promise<SocketReader> {
  const key = await issueBenchKey(service)
  const untilMiddle = (minuteMs + 20_000 - (systemClock.utcMs() % minuteMs)) % minuteMs
  await systemClock.sleep(untilMiddle)
  const keys = rawNames(symbols).map(keyOf)
  const size = Math.ceil(symbols / sockets)
  const subscriptions = Array.from({ length: sockets }, (_, n) => keys.slice(n * size, (n + 1) * size))
  const port = Number(new URL(service.target.url).port)
  return SocketReader.open(port, `/v1/stream?api_key=${key}`, subscriptions)
}

/** Minutes of 1,622 symbols that tick every second, first alone and then while history is read. */
export async function liveMinutes(alone: number, besideHistory: number): Promise<LiveMinutes> {
  const bench = await TerminalBench.start({ symbols, depthDays })
  let reader: SocketReader | undefined
  try {
    bench.begin('live')
    const history = bench.begin('history')
    await bench.untilStored(symbols * firstBars, startDeadlineMs)
    await history.end()
    reader = await openSockets(bench)
    // The first one after a start is slower.
    await nextMinute(reader)
    const quiet = await minutesOf(alone, reader)
    const [before, begun] = [await bench.stored(), performance.now()]
    bench.begin('history')
    const beside = await minutesOf(besideHistory, reader)
    const bars = (await bench.stored()) - before
    return {
      alone: quiet,
      besideHistory: beside,
      historyRate: (bars / (performance.now() - begun)) * 1_000,
      refused: await bench.refused(),
    }
  } finally {
    await reader?.close()
    await bench.stop()
  }
}
