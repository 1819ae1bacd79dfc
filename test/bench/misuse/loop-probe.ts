/**
 * Preloaded into the server of the bench `misuse`: measures the lag of the event loop and sends the figures over a
 * Unix socket. A blocked loop cannot measure, so a late beat counts once for each missed step: the shares are shares
 * of time. The probe also measures the CPU time of the main thread between beats, which other load does not affect.
 */
import { createServer } from 'node:net'
import { isMainThread } from 'node:worker_threads'

/** Milliseconds; `lag` has one figure for each 10 ms. */
export interface LoopFigures {
  readonly lag: readonly number[]
  /** Maximum CPU time of the main thread between two beats. */
  readonly longestTurn: number
  /** CPU time since the previous figures. */
  readonly worked: number
}

const stepMs = 10
const path = process.env['BENCH_LOOP_PROBE']
// Worker threads and other commands of the same environment load this module, too.
if (isMainThread && process.argv[2] === 'all' && path !== undefined) serve(path)

function serve(at: string): void {
  let lag: number[] = []
  let longestTurn = 0
  let worked = workedMs()
  let workedAtLast = worked
  let due = performance.now() + stepMs
  const beat = (): void => {
    const now = performance.now()
    lag.push(Math.max(0, now - due))
    for (let late = now - due - stepMs; late > 0; late -= stepMs) lag.push(late)
    const total = workedMs()
    longestTurn = Math.max(longestTurn, total - worked)
    worked = total
    due = now + stepMs
    setTimeout(beat, stepMs).unref()
  }
  setTimeout(beat, stepMs).unref()
  // Each line requests the figures since the previous one.
  const server = createServer((socket) => {
    socket.unref()
    socket.on('data', () => {
      const total = workedMs()
      const figures: LoopFigures = { lag, longestTurn, worked: total - workedAtLast }
      socket.write(`${JSON.stringify(figures)}\n`)
      workedAtLast = total
      lag = []
      longestTurn = 0
    })
    socket.on('error', () => socket.destroy())
  })
  server.listen(at).unref()
}

function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
