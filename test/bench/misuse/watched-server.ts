import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePorts } from '../../acceptance/client/free-ports.ts'
import { metricOf } from '../../support/clients/metric-of.ts'
import { killWithParent } from '../../support/processes/kill-with-parent.ts'
import { type RunningService, startService } from '../../support/processes/service-process.ts'
import type { LoopFigures } from './loop-probe.ts'

const probe = new URL('./loop-probe.ts', import.meta.url).href
/** Options of Node for the server only, such as `--cpu-prof`. */
const moreOptions = process.env['BENCH_SERVER_OPTIONS'] ?? ''
const bytesPerMb = 1e6
/** Timeout of the probe; a loop that is blocked for longer cannot be measured. */
const answerDeadlineMs = 60_000
const calmDeadlineMs = 20_000
/** Share of CPU time of the main thread below which only the victim loads the server. */
const calmShare = 0.4

export type Store = 'embedded' | 'questdb'

/** State that must be restored after an attack. */
export interface ServerState {
  readonly rssMb: number
  /** Open files, sockets and pipes. */
  readonly handles: number
  readonly httpConnections: number
  readonly streamSockets: number
  readonly isReady: boolean
  /** Tables of QuestDB that accept rows and do not show them. */
  readonly suspendedTables: number
}

/** The process ended or is blocked, which an attack must not cause. */
export class ServerLost extends Error {}
const stoodStill = (): ServerLost =>
  new ServerLost(`the process stood still for ${answerDeadlineMs / 1_000} s`)

/** `fxd all` with the demo feeds, with figures of the operating system and its event loop. */
export class WatchedServer {
  readonly service: RunningService
  /** `host:port` where terminals post. */
  readonly terminal: string
  readonly #probe: Socket

  private constructor(service: RunningService, terminal: string, atProbe: Socket) {
    this.service = service
    this.terminal = terminal
    this.#probe = atProbe
  }

  /** Resolves when it is ready. Its data in `home`, or in QuestDB, survive restarts. */
  static async start(home: string, store: Store): Promise<WatchedServer> {
    const path = join(home, 'probe')
    rmSync(path, { force: true })
    const terminal = `127.0.0.1:${(await freePorts(1))[0]}`
    const service = await startService(home, {
      store,
      env: {
        FXD_TERMINAL_ADDR: terminal,
        BENCH_LOOP_PROBE: path,
        NODE_OPTIONS: `--import ${probe} ${moreOptions}`,
      },
    })
    killWithParent(service.process)
    const atProbe = connect(path).setEncoding('utf8')
    atProbe.on('error', () => undefined)
    await once(atProbe, 'connect')
    return new WatchedServer(service, terminal, atProbe)
  }

  get hasEnded(): boolean {
    return this.service.process.exitCode !== null || this.service.process.signalCode !== null
  }

  /** An error with the last error of its log. */
  end(): ServerLost {
    const log = readFileSync(this.service.target.log, 'utf8').slice(-20_000)
    const last = log.match(/^\w*Error.*$|FATAL ERROR.*$/gm)?.at(-1)
    const code = this.service.process.exitCode ?? this.service.process.signalCode
    return new ServerLost(`the process ended (${last ?? `code ${code}`})`)
  }

  /** Figures of the probe since the last call. */
  async loop(): Promise<LoopFigures> {
    let text = ''
    const done = new AbortController()
    const signal = AbortSignal.any([done.signal, AbortSignal.timeout(answerDeadlineMs)])
    const gone = once(this.#probe, 'close', { signal }).then(() => {
      throw this.end()
    })
    this.#probe.write('\n')
    try {
      while (!text.endsWith('\n')) {
        const [piece] = (await Promise.race([once(this.#probe, 'data', { signal }), gone])) as [string]
        text += piece
      }
    } catch (cause) {
      throw cause instanceof ServerLost ? cause : stoodStill()
    } finally {
      done.abort()
    }
    return JSON.parse(text) as LoopFigures
  }

  /** Resolves when the work that an attack left is done, or after a timeout. */
  async calm(): Promise<void> {
    const end = performance.now() + calmDeadlineMs
    do {
      await this.loop()
      const begun = performance.now()
      await pause(1_000)
      const { worked } = await this.loop()
      if (worked < calmShare * (performance.now() - begun)) return
    } while (performance.now() < end)
  }

  /** Resident memory from the operating system, which works for a blocked process, too. */
  rssMb(): number {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(this.#proc('status'))?.[1]
    return (Number(kib ?? Number.NaN) * 1_024) / bytesPerMb
  }

  /** Milliseconds since its start in which its main thread waited for a CPU. */
  cpuWaitMs(): number {
    return Number(this.#proc('schedstat').split(' ')[1]) / 1e6
  }

  async state(): Promise<ServerState> {
    const { ops } = this.service.target
    const port = Number(new URL(ops).port)
    const signal = AbortSignal.timeout(answerDeadlineMs)
    const { status } = await fetch(`${ops}/readyz`, { signal }).catch((cause: unknown) => {
      throw this.hasEnded ? this.end() : signal.aborted ? stoodStill() : cause
    })
    return {
      rssMb: this.rssMb(),
      handles: readdirSync(`/proc/${this.service.process.pid}/fd`).length,
      httpConnections: await metricOf(port, 'fxd_http_connections'),
      streamSockets: await metricOf(port, 'fxd_stream_connections'),
      isReady: status === 200,
      suspendedTables: await metricOf(port, 'fxd_questdb_suspended_tables'),
    }
  }

  async stop(): Promise<void> {
    this.#probe.destroy()
    await this.service.stop()
  }

  #proc(file: string): string {
    return readFileSync(`/proc/${this.service.process.pid}/${file}`, 'utf8')
  }
}
