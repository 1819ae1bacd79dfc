import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { bareEnv } from './bare-env.ts'
import { endWithUs } from './end-with-us.ts'
import { standStill } from './stand-still.ts'

const lastWordsLength = 4_000

export interface ServerProcessOptions {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly answers: () => Promise<boolean>
  readonly startDeadlineMs: number
}

/** The process of a real server: can be killed, frozen and started again. */
export class ServerProcess {
  readonly #options: ServerProcessOptions
  #child: ChildProcess | undefined
  #gone: Promise<number | string> = Promise.resolve(0)

  constructor(options: ServerProcessOptions) {
    this.#options = options
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Resolves when its present life ends, with the exit code or the signal. */
  get ended(): Promise<number | string> {
    return this.#gone
  }

  /** Resolves once it answers. */
  async start(more: Readonly<Record<string, string>> = {}): Promise<void> {
    const { name, command, args, env, answers, startDeadlineMs } = this.#options
    const started = spawn(command, args, {
      env: { ...bareEnv(), ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = started
    endWithUs(started)
    let said = ''
    const hear = (piece: Buffer): void => void (said = (said + piece.toString()).slice(-lastWordsLength))
    started.stdout.on('data', hear)
    started.stderr.on('data', hear)
    this.#gone = new Promise((resolve) =>
      started.once('exit', (code, signal) => resolve(code ?? signal ?? -1)),
    )
    const end = Date.now() + startDeadlineMs
    while (!(await answers())) {
      if (started.exitCode === null && started.signalCode === null && Date.now() < end) await pause(20)
      else {
        started.kill('SIGKILL')
        throw new Error(`${name} did not start:\n${said}`)
      }
    }
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#gone
  }

  /** Ends it with SIGTERM; gives the exit code or the signal. */
  stop(): Promise<number | string> {
    this.#child?.kill('SIGTERM')
    return this.#gone
  }

  /** Resolves once it stands still in the middle of whatever it does, with its connections open. */
  freeze(): Promise<void> {
    return standStill(this.#child)
  }

  thaw(): void {
    this.#child?.kill('SIGCONT')
  }
}
