import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { until } from '../acceptance/client/until.ts'

export type Line = Readonly<Record<string, unknown>>

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Path of a Python that has the packages of a file of requirements; installs them the first time. */
export const python = (requirements = 'requirements.txt'): string =>
  execFileSync(here('install-python'), [requirements], { encoding: 'utf8' }).trim()

const started: ChildProcessWithoutNullStreams[] = []

/** A Python program that reads and writes JSON lines on its standard streams. */
export class ForeignProcess {
  readonly lines: Line[] = []
  readonly #child: ChildProcessWithoutNullStreams
  #errors = ''
  #read = 0

  constructor(interpreter: string, script: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.#child = spawn(interpreter, [here(script), ...args], { env: { ...process.env, ...env } })
    started.push(this.#child)
    let rest = ''
    this.#child.stdout.setEncoding('utf8').on('data', (part: string) => {
      const lines = `${rest}${part}`.split('\n')
      rest = lines.pop() ?? ''
      this.lines.push(...lines.map((line) => JSON.parse(line) as Line))
    })
    this.#child.stderr.setEncoding('utf8').on('data', (part: string) => (this.#errors += part))
    this.#child.stdin.on('error', () => undefined)
  }

  send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`)
  }

  /** The next line that `wanted` accepts; other lines are skipped. */
  next(what: string, wanted: (line: Line) => boolean): Promise<Line> {
    return until(what, () => {
      while (this.#read < this.lines.length) {
        const line = this.lines[this.#read++] ?? {}
        if (wanted(line)) return line
      }
      if (this.#child.exitCode !== null && this.#child.exitCode !== 0) throw new Error(this.#errors)
      return undefined
    })
  }

  end(): void {
    this.#child.stdin.end()
  }

  /** Its exit code or signal, and what it wrote to standard error, once it has ended. */
  get ended(): string | undefined {
    const { exitCode, signalCode } = this.#child
    return exitCode === null && signalCode === null ? undefined : `${exitCode ?? signalCode}: ${this.#errors}`
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  kill(): void {
    this.signal('SIGKILL')
  }
}

/** For `afterEach`: kills all programs that a test started. */
export const endForeignProcesses = (): void => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
}
