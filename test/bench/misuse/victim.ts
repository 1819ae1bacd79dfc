/**
 * The victim of the bench `misuse`, in a process of its own: every 50 ms a ping on a WebSocket and a request
 * of 300 bars. A time counts from the moment at which the message was due, so that a wait hides no other one.
 */
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'

export interface VictimOrder {
  readonly url: string
  readonly ws: string
  readonly key: string
  readonly symbol: string
}
export interface VictimRun {
  readonly runMs: number
}
/** Milliseconds of each answer, and failures by what they were. */
export interface VictimReport {
  readonly rest: readonly number[]
  readonly pings: readonly number[]
  readonly failures: Readonly<Record<string, number>>
}

const everyMs = 50
/** What is not answered so long after the run has failed. */
const answerDeadlineMs = 10_000
/** As many as a browser opens to one host; one is enough while answers come in time. */
const connectionsMax = 6

process.once('disconnect', () => process.exit())
process.once('message', (order: VictimOrder) => {
  const victim = new Victim(order)
  process.on('message', ({ runMs }: VictimRun) => {
    void victim.run(runMs).then((report) => process.send?.(report))
  })
})

class Victim {
  readonly #order: VictimOrder
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: connectionsMax })
  #socket: WebSocket
  #isOpen = false
  /** When each ping that waits for its pong was due, oldest first. */
  #due: number[] = []
  #asked = 0
  #rest: number[] = []
  #pings: number[] = []
  #failures: Record<string, number> = {}

  constructor(order: VictimOrder) {
    this.#order = order
    this.#socket = this.#connect()
  }

  async run(runMs: number): Promise<VictimReport> {
    this.#rest = []
    this.#pings = []
    this.#failures = {}
    const begun = performance.now()
    for (let due = begun; due < begun + runMs; due += everyMs) {
      const early = due - performance.now()
      if (early > 0) await pause(early)
      this.#ask(due)
      this.#ping(due)
    }
    const end = performance.now() + answerDeadlineMs
    while ((this.#asked > 0 || this.#due.length > 0) && performance.now() < end) await pause(10)
    for (const _ of this.#due.splice(0)) this.#fail('no pong')
    return { rest: this.#rest, pings: this.#pings, failures: this.#failures }
  }

  #fail(what: string): void {
    this.#failures[what] = (this.#failures[what] ?? 0) + 1
  }

  #ask(due: number): void {
    const { url, key, symbol } = this.#order
    const path = `${url}/v1/history?symbol=${symbol}&resolution=1&countback=300`
    const headers = { 'X-API-Key': key }
    const timeout = answerDeadlineMs
    this.#asked += 1
    const request = http.get(path, { agent: this.#agent, headers, timeout }, (response) => {
      response.resume()
      response.on('end', () => {
        this.#rest.push(performance.now() - due)
        if (response.statusCode !== 200) this.#fail(`status ${response.statusCode}`)
      })
    })
    request.on('timeout', () => request.destroy(new Error('timeout')))
    request.on('error', (error: NodeJS.ErrnoException) => this.#fail(error.code ?? error.message))
    request.on('close', () => void (this.#asked -= 1))
  }

  #ping(due: number): void {
    if (!this.#isOpen) return this.#fail('no socket')
    this.#due.push(due)
    this.#socket.send('{"action":"ping"}')
  }

  #connect(): WebSocket {
    const socket = new WebSocket(`${this.#order.ws}/v1/stream?api_key=${this.#order.key}`)
    socket.on('message', (data: Buffer) => {
      if (data.includes('"type":"connected"')) {
        this.#isOpen = true
        process.send?.('open')
      }
      if (!data.includes('"type":"pong"')) return
      const due = this.#due.shift()
      if (due !== undefined) this.#pings.push(performance.now() - due)
    })
    socket.on('error', () => undefined)
    socket.on('close', (code) => {
      this.#isOpen = false
      for (const _ of this.#due.splice(0)) this.#fail('no pong')
      this.#fail(`socket closed ${code}`)
      setTimeout(() => void (this.#socket = this.#connect()), 1_000)
    })
    return socket
  }
}
