/**
 * The victim of the bench `misuse`, in a separate process: every 50 ms a ping on a WebSocket and a request of 300 bars. Where
 * the port of terminals is attacked, its terminal also posts bars every 100 ms; its times are among those of the requests.
 * Each time counts from the moment at which the message was due, so that a delay of one message hides no other.
 */
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { PostingTerminal } from '../../support/samples/posting-terminal.ts'
import { beginTerminal } from './terminals.ts'

export interface VictimOrder {
  readonly url: string
  readonly ws: string
  readonly key: string
  readonly symbol: string
  /** `host:port` where its terminal posts. */
  readonly terminal?: string | undefined
}
export interface VictimRun {
  readonly runMs: number
}
/** Milliseconds until each answer or its timeout, and failures by kind. */
export interface VictimReport {
  readonly rest: readonly number[]
  readonly pings: readonly number[]
  readonly failures: Readonly<Record<string, number>>
}

const everyMs = 50
/** Timeout of answers after the end of the run. */
const answerDeadlineMs = 10_000
/** Maximum connections, as of a browser to one host. One suffices while answers are fast. */
const connectionsMax = 6
/** Start of an answer with bars. */
const withBars = '{"s":"ok"'

process.once('disconnect', () => process.exit())
process.once('message', (order: VictimOrder) => {
  const victim = new Victim(order)
  process.on('message', ({ runMs }: VictimRun) => {
    void victim.run(runMs).then((report) => process.send?.(report))
  })
})

/** Counts of one run. A late answer does not count for the next run. */
class Findings {
  readonly rest: number[] = []
  readonly pings: number[] = []
  readonly failures: Record<string, number> = {}
  /** Due time of each request without an answer. */
  readonly asked = new Map<http.ClientRequest, number>()
  /** Due times of pings without a pong, oldest first. */
  readonly pinged: number[] = []

  get isComplete(): boolean {
    return this.asked.size === 0 && this.pinged.length === 0
  }

  fail(what: string): void {
    this.failures[what] = (this.failures[what] ?? 0) + 1
  }

  /** Counts everything without an answer as failed, with its waiting time. */
  end(): void {
    for (const due of this.pinged.splice(0)) {
      this.fail('no pong')
      this.pings.push(performance.now() - due)
    }
    for (const [request, due] of this.asked) {
      this.fail('no answer')
      this.rest.push(performance.now() - due)
      request.destroy()
    }
    this.asked.clear()
  }
}

class Victim {
  readonly #order: VictimOrder
  #terminal: PostingTerminal | undefined
  #isPosting = false
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: connectionsMax })
  #socket: WebSocket
  #isOpen = false
  #findings = new Findings()

  constructor(order: VictimOrder) {
    this.#order = order
    this.#socket = this.#connect()
  }

  async run(runMs: number): Promise<VictimReport> {
    await this.#untilOpen()
    const { terminal } = this.#order
    if (terminal !== undefined) this.#terminal = await beginTerminal(terminal)
    const findings = new Findings()
    this.#findings = findings
    const begun = performance.now()
    for (let due = begun; due < begun + runMs; due += everyMs) {
      const early = due - performance.now()
      if (early > 0) await pause(early)
      this.#ask(due, findings)
      this.#ping(due, findings)
      if (!this.#isPosting && Math.round((due - begun) / everyMs) % 2 === 0) void this.#post(due, findings)
    }
    const end = performance.now() + answerDeadlineMs
    while (!findings.isComplete && performance.now() < end) await pause(10)
    // Pongs have no number, so a late one would count for a ping of the next run.
    if (findings.pinged.length > 0) this.#socket.terminate()
    findings.end()
    return { rest: findings.rest, pings: findings.pings, failures: { ...findings.failures } }
  }

  #ask(due: number, findings: Findings): void {
    const { url, key, symbol } = this.#order
    const path = `${url}/v1/history?symbol=${symbol}&resolution=1&countback=300`
    const headers = { 'X-API-Key': key }
    const answered = (): boolean => {
      if (!findings.asked.delete(request)) return false
      findings.rest.push(performance.now() - due)
      return true
    }
    const request = http.get(path, { agent: this.#agent, headers }, (response) => {
      let begin = ''
      response.once('data', (piece: Buffer) => (begin = piece.subarray(0, withBars.length).toString()))
      response.on('end', () => {
        if (!answered()) return
        if (response.statusCode !== 200) findings.fail(`status ${response.statusCode}`)
        else if (begin !== withBars) findings.fail('no bars')
      })
    })
    findings.asked.set(request, due)
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (answered()) findings.fail(error.code ?? error.message)
    })
    request.on('close', () => {
      if (answered()) findings.fail('answer cut')
    })
  }

  /** One post at a time; what is late counts from when it was due. */
  async #post(due: number, findings: Findings): Promise<void> {
    if (!this.#terminal) return
    this.#isPosting = true
    await this.#terminal.turn().catch((cause: Error) => findings.fail(`post: ${cause.message.slice(0, 30)}`))
    this.#isPosting = false
    findings.rest.push(performance.now() - due)
  }

  #ping(due: number, findings: Findings): void {
    if (!this.#isOpen) return findings.fail('no socket')
    findings.pinged.push(due)
    this.#socket.send('{"action":"ping"}')
  }

  async #untilOpen(): Promise<void> {
    const end = performance.now() + answerDeadlineMs
    while (!this.#isOpen && performance.now() < end) await pause(10)
  }

  #connect(): WebSocket {
    const socket = new WebSocket(`${this.#order.ws}/v1/stream?api_key=${this.#order.key}`)
    socket.on('message', (data: Buffer) => {
      if (data.includes('"type":"connected"')) {
        this.#isOpen = true
        process.send?.('open')
      }
      if (!data.includes('"type":"pong"')) return
      const due = this.#findings.pinged.shift()
      if (due !== undefined) this.#findings.pings.push(performance.now() - due)
    })
    socket.on('error', () => undefined)
    socket.on('close', (code) => {
      this.#isOpen = false
      for (const _ of this.#findings.pinged.splice(0)) this.#findings.fail('no pong')
      this.#findings.fail(`socket closed ${code}`)
      setTimeout(() => void (this.#socket = this.#connect()), 1_000)
    })
    return socket
  }
}
