import { join } from 'node:path'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { parseConfig } from '../../services/platform/config.ts'
import { silentLog } from '../../services/platform/log/log.ts'
import { type RunningAll, startAll } from '../../services/roles/all.ts'
import { useTarget } from '../acceptance/client/target.ts'
import { createVirtualClock, type VirtualClock } from '../support/fixtures/virtual-clock.ts'
import { makeHome } from '../support/processes/service-process.ts'

const repository = join(import.meta.dirname, '../..')
/** Step of the clock; small enough that real I/O (sockets, files, store threads) keeps up. */
const stepMs = 1000
const turnsPerStep = 3
const attemptMs = 50
const attemptsMax = 2400

/**
 * `fxd all` in this process on a virtual clock that only the test moves; HTTP, WebSocket and gRPC are real.
 * It is the target of the acceptance clients of the test file.
 */
export class ClockedService {
  readonly clock: VirtualClock
  readonly #home: string
  readonly #discard: () => void
  readonly #running: RunningAll
  #stopped = false

  private constructor(clock: VirtualClock, home: string, discard: () => void, running: RunningAll) {
    this.clock = clock
    this.#home = home
    this.#discard = discard
    this.#running = running
  }

  /** @param start UTC milliseconds of the clock. @param home folder of an earlier service, to continue with its state */
  static async start(start: number, home = makeHome()): Promise<ClockedService> {
    const clock = createVirtualClock({ start })
    const environment = {
      FXD_HTTP_ADDR: '127.0.0.1:0',
      FXD_GRPC_ADDR: '127.0.0.1:0',
      FXD_OPS_ADDR: '127.0.0.1:0',
      FXD_DATA_DIR: join(home.home, 'data'),
      FXD_FEEDS: join(home.home, 'feeds'),
    }
    const starting = startAll(parseConfig(environment), { clock, log: silentLog })
    const running = await whileClockMoves(clock, starting)
    const settings = { ...environment, FXD_GRPC_ADDR: `127.0.0.1:${running.grpcPort}` }
    const assigned = Object.entries(settings).map(([name, value]) => `${name}='${value}'`)
    const tool = `${assigned.join(' ')} '${repository}/bin/node' '${repository}/services/main.ts'`
    useTarget({
      url: `http://127.0.0.1:${running.httpPort}`,
      ws: `ws://127.0.0.1:${running.httpPort}`,
      ops: `http://127.0.0.1:${running.opsPort}`,
      grpc: settings.FXD_GRPC_ADDR,
      token: join(settings.FXD_DATA_DIR, 'token'),
      issuer: `${tool} keys`,
      importer: `${tool} import`,
      input: join(home.home, 'input'),
      log: '',
    })
    return new ClockedService(clock, home.home, home.discard, running)
  }

  get now(): number {
    return this.clock.utcMs()
  }

  /** Moves the clock forward, with time for real I/O after each second. */
  async pass(seconds: number): Promise<void> {
    for (let left = seconds * 1000; left > 0; left -= stepMs) {
      await this.clock.advance(Math.min(stepMs, left))
      for (let turns = 0; turns < turnsPerStep; turns++) await turn()
    }
  }

  /** Moves the clock to a moment, given in UTC milliseconds. */
  passTo(moment: number): Promise<void> {
    return this.pass((moment - this.now) / 1000)
  }

  /** Moves the clock by 50 ms until `probe` returns something other than undefined or false; returns that. */
  async eventually<T>(
    wanted: string,
    probe: () => Promise<T | undefined | false> | T | undefined | false,
  ): Promise<T> {
    let last: unknown
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      try {
        const seen = await probe()
        if (seen !== undefined && seen !== false) return seen
      } catch (error) {
        last = error
      }
      await this.clock.advance(attemptMs)
      // Files and sockets need real time: without it the clock may pass a minute before they are done.
      await pause(1)
    }
    throw new Error(
      `${wanted}: not so after ${attemptsMax * attemptMs} ms on the clock; last failure: ${String(last)}`,
    )
  }

  /** Stops the service and starts it again at a later time (UTC ms) with the same state. */
  async again(start: number): Promise<ClockedService> {
    await this.#stop()
    return ClockedService.start(start, { home: this.#home, discard: this.#discard })
  }

  async end(): Promise<void> {
    await this.#stop()
    this.#discard()
  }

  async #stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    await whileClockMoves(this.clock, this.#running.stop())
  }
}

/** Awaits a start or stop, which wait on the clock: moves it about as fast as real time. */
async function whileClockMoves<T>(clock: VirtualClock, task: Promise<T>): Promise<T> {
  let done = false
  const settled = task.finally(() => {
    done = true
  })
  settled.catch(() => undefined)
  while (!done) {
    await clock.advance(1)
    await pause(1)
  }
  return settled
}
