import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { TerminalKind } from '../../terminals/programs.ts'
import { compiled } from './compile.ts'

/** The answer to a call: shim/README.md has the format. */
export interface Reply {
  readonly result: number | string
  /** Number of `GetLastError`; absent: no error. */
  readonly error?: number
  readonly lines?: readonly (readonly (number | string)[])[]
}

/** Answers one call of the program. A promise keeps the program waiting, as a slow terminal does. */
export type Answer = (name: string, args: readonly string[]) => Reply | Promise<Reply>

const codes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
const escaped = (value: number | string): string =>
  String(value).replace(/[\\\t\n\r]/g, (each) => codes[each] ?? '')
const plain = (field: string): string =>
  field.replace(/\\(.)/g, (_, each: string) => ({ t: '\t', n: '\n', r: '\r' })[each] ?? each)

const text = ({ error = 0, result, lines }: Reply): string => {
  const rows = (lines ?? []).map((line) => `${line.map(escaped).join('\t')}\n`)
  const count = lines === undefined ? '' : `\t${lines.length}`
  return `${error}\t${escaped(result)}${count}\n${rows.join('')}`
}

/** A running bridge. The test answers every call of the terminal's functions. */
export class TerminalProgram {
  readonly ended: Promise<number | null>
  readonly #child: ChildProcessWithoutNullStreams
  readonly #answer: Answer
  #errors = ''
  #rest = ''

  constructor(kind: TerminalKind, answer: Answer, { fast = false } = {}) {
    this.#answer = answer
    this.#child = spawn(compiled(kind, fast), { stdio: 'pipe' })
    this.#child.stdin.on('error', () => undefined)
    this.#child.stderr.setEncoding('utf8').on('data', (part: string) => (this.#errors += part))
    this.#child.stdout.setEncoding('utf8').on('data', (part: string) => this.#read(part))
    this.ended = new Promise((resolve) => this.#child.on('close', resolve))
  }

  /** What sanitizers and the shim printed: '' unless the program has a defect. */
  get errors(): string {
    return this.#errors
  }

  /** Like a killed terminal. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #read(part: string): void {
    const lines = `${this.#rest}${part}`.split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#take(line)
  }

  #take(line: string): void {
    const [name = '', ...args] = line.split('\t').map(plain)
    const reply = this.#answer(name, args)
    if (reply instanceof Promise) void reply.then((later) => this.#write(later))
    else this.#write(reply)
  }

  #write(reply: Reply): void {
    this.#child.stdin.write(text(reply))
  }
}
