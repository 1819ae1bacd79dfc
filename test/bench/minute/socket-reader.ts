import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { compiled } from '../support/compiled.ts'

const source = join(import.meta.dirname, 'sockets.c')

/** Arrival of a burst at all sockets, in milliseconds of the monotonic clock. */
export interface Arrival {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

let seed = 1
const random = (below: number): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

function pick(symbols: readonly string[], count: number): string[] {
  const all = [...symbols]
  for (let i = 0; i < count; i++) {
    const j = i + random(all.length - i)
    ;[all[i], all[j]] = [all[j] as string, all[i] as string]
  }
  return all.slice(0, count)
}

/** Random symbols for each of these sockets. */
export const randomSubscriptions = (
  symbols: readonly string[],
  sockets: number,
  perSocket: number,
): string[][] => Array.from({ length: sockets }, () => pick(symbols, perSocket))

/** Sockets in a separate process written in C. */
export class SocketReader {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  readonly #input: Interface

  private constructor(child: ChildProcess) {
    this.#child = child
    this.pid = child.pid ?? 0
    this.#input = createInterface(child.stdout as NodeJS.ReadableStream)
    this.#lines = this.#input[Symbol.asyncIterator]()
  }

  /** Opens one socket for each list of symbols. */
  static async open(
    port: number,
    path: string,
    subscriptions: readonly (readonly string[])[],
  ): Promise<SocketReader> {
    const child = spawn(compiled(source), [String(port), path, String(subscriptions.length)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    process.once('exit', () => child.kill())
    const reader = new SocketReader(child)
    for (const symbols of subscriptions)
      child.stdin?.write(`${JSON.stringify({ action: 'subscribe', symbols })}\n`)
    await reader.#line()
    return reader
  }

  /** Resolves once so many bars have arrived from now on. */
  async expect(frames: number): Promise<Arrival> {
    this.#child.stdin?.write(`expect ${frames}\n`)
    const [p50 = 0, p99 = 0, max = 0] = (await this.#line()).split(' ').map((ns) => Number(ns) / 1e6)
    return { p50, p99, max }
  }

  async #line(): Promise<string> {
    const next = await this.#lines.next()
    if (next.done === true) throw new Error('the socket reader ended')
    return next.value
  }

  async close(): Promise<void> {
    this.#input.close()
    this.#child.kill()
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
  }
}
