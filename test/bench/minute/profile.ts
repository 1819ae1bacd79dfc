/** The CPU profile of a process that was started with `--inspect`, by function. */
interface Node {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
}
interface Profile {
  readonly nodes: readonly Node[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}
export interface SelfTime {
  readonly name: string
  readonly ms: number
}

const intervalUs = 200

export class Profiler {
  readonly #socket: WebSocket
  readonly #answers = new Map<number, (result: unknown) => void>()
  #id = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown }
      this.#answers.get(id)?.(result)
      this.#answers.delete(id)
    })
  }

  static async attach(port: number): Promise<Profiler> {
    const [target] = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
      webSocketDebuggerUrl: string
    }[]
    if (target === undefined) throw new Error(`no inspector at port ${port}`)
    const socket = new WebSocket(target.webSocketDebuggerUrl)
    await new Promise((resolve) => socket.addEventListener('open', resolve))
    const profiler = new Profiler(socket)
    await profiler.#call('Profiler.enable')
    await profiler.#call('Profiler.setSamplingInterval', { interval: intervalUs })
    return profiler
  }

  begin(): Promise<unknown> {
    return this.#call('Profiler.start')
  }

  /** Functions by the time that they took themselves, longest first; idle time is left out. */
  async end(): Promise<SelfTime[]> {
    const { profile } = (await this.#call('Profiler.stop')) as { profile: Profile }
    const names = new Map(
      profile.nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
        id,
        `${functionName || '(anonymous)'} ${url.replace(/^.*\/(services|node_modules)\//, '$1/')}${url === '' ? '' : `:${lineNumber + 1}`}`,
      ]),
    )
    const times = new Map<string, number>()
    profile.samples.forEach((id, index) => {
      const name = names.get(id) ?? ''
      times.set(name, (times.get(name) ?? 0) + (profile.timeDeltas[index] ?? 0) / 1_000)
    })
    times.delete('(idle) ')
    return [...times].map(([name, ms]) => ({ name, ms })).toSorted((a, b) => b.ms - a.ms)
  }

  close(): void {
    this.#socket.close()
  }

  #call(method: string, params: object = {}): Promise<unknown> {
    this.#id += 1
    const id = this.#id
    return new Promise((resolve) => {
      this.#answers.set(id, resolve)
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
  }
}
