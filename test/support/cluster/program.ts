import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { freezeProcess } from '../processes/freeze-process.ts'
import { killWithParent } from '../processes/kill-with-parent.ts'

const startDeadlineMs = 90_000
const stopDeadlineMs = 20_000

export interface ProgramOptions {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** File for all output, over all starts. */
  readonly log: string
  /** Whether it is ready. */
  readonly isReady: () => Promise<boolean>
}

/** One named process of a cluster, which can be killed, stopped, frozen and started again. */
export class Program {
  readonly #options: ProgramOptions
  #child: ChildProcess | undefined
  #ended: Promise<number | string> = Promise.resolve(0)

  constructor(options: ProgramOptions) {
    this.#options = options
  }

  get name(): string {
    return this.#options.name
  }

  get log(): string {
    return this.#options.log
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Resolves at the end of the present process with its exit code or signal. */
  get ended(): Promise<number | string> {
    return this.#ended
  }

  get isAlive(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null
  }

  /** Starts the process on the same addresses as before, without waiting; see `ready`. */
  begin(): void {
    if (this.isAlive) throw new Error(`${this.name} is already running`)
    const { command, args, env, log } = this.#options
    // Opened at once: a stream may open it after the end of the process, when its folder is removed already.
    const file = openSync(log, 'a')
    const child = spawn(command, args, { env, stdio: ['ignore', file, file] })
    closeSync(file)
    this.#child = child
    killWithParent(child)
    this.#ended = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve(code ?? signal ?? -1))
      child.once('error', (cause) => appendFileSync(log, `${String(cause)}\n`))
    })
  }

  async ready(): Promise<void> {
    const end = Date.now() + startDeadlineMs
    while (!(await this.#options.isReady())) {
      if (!this.isAlive || Date.now() > end) {
        await this.kill()
        throw new Error(`${this.name} did not become ready:\n${this.logTail()}`)
      }
      await pause(50)
    }
  }

  async start(): Promise<void> {
    this.begin()
    await this.ready()
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** Ends the process like a crash, with SIGKILL. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.#ended
  }

  /** Stops the process with a signal, by default SIGTERM, and kills it after the deadline. Resolves with its exit code or signal. */
  async stop(name: NodeJS.Signals = 'SIGTERM', deadlineMs = stopDeadlineMs): Promise<number | string> {
    const inTime = new AbortController()
    const late = pause(deadlineMs, undefined, { signal: inTime.signal }).then(
      () => this.signal('SIGKILL'),
      () => undefined,
    )
    if (this.isAlive) this.signal(name)
    const outcome = await this.#ended
    inTime.abort()
    await late
    return outcome
  }

  /** Stops the process with SIGSTOP; its connections stay open. Resolves once it is frozen. */
  freeze(): Promise<void> {
    return freezeProcess(this.#child)
  }

  thaw(): void {
    this.signal('SIGCONT')
  }

  logTail(): string {
    return readFileSync(this.log, 'utf8').slice(-4_000)
  }
}
