import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { killWithParent } from '../../support/processes/kill-with-parent.ts'

const lastWordsLength = 4_000

/** A process of the cluster that can be killed and restarted. Its output is in a file. */
export class Daemon {
  readonly name: string
  readonly #command: readonly [string, ...string[]]
  readonly #logFile: string
  readonly #env: Readonly<Record<string, string>>
  #child: ChildProcess | undefined
  #ended: Promise<void> = Promise.resolve()

  constructor(
    name: string,
    command: readonly [string, ...string[]],
    logFile: string,
    env: Readonly<Record<string, string>> = {},
  ) {
    this.name = name
    this.#command = command
    this.#logFile = logFile
    this.#env = env
  }

  start(): void {
    const log = openSync(this.#logFile, 'a')
    const [program, ...args] = this.#command
    // In a separate session, so that Ctrl-C stops the cluster in order.
    const child = spawn(program, args, {
      env: { ...process.env, ...this.#env },
      stdio: ['ignore', log, log],
      detached: true,
    })
    closeSync(log)
    killWithParent(child)
    this.#child = child
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => resolve())
      child.once('error', () => resolve())
    })
  }

  get isRunning(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null
  }

  /** Sends SIGKILL, as in a crash or a power cut. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#ended
  }

  /** The end of its output. */
  lastOutput(): string {
    return readFileSync(this.#logFile, 'utf8').slice(-lastWordsLength)
  }
}
