import http from 'node:http'
import { expect } from 'vitest'
import { assertDescribed } from './openapi.ts'
import { target } from './target.ts'

/** One HTTP answer as it came over the wire: header names keep the casing that was sent. */
export interface Answer<Body> {
  readonly status: number
  readonly rawHeaders: readonly string[]
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
  readonly body: Body
}

export interface Question {
  readonly key?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is; the service takes no bodies. */
  readonly payload?: string
  /** The source address on loopback; 127.0.0.2 is the trusted proxy of the suite's own process. */
  readonly from?: string
  readonly base?: string
}

const roundTrip = (path: string, { method = 'GET', ...question }: Question) =>
  new Promise<Answer<unknown>>((resolve, reject) => {
    const base = new URL(question.base ?? target().url)
    const request = http.request({
      host: base.hostname,
      port: base.port,
      path,
      method,
      agent: false,
      timeout: 30_000,
      ...(question.from === undefined ? {} : { localAddress: question.from }),
      headers: {
        ...(question.key === undefined ? {} : { 'X-API-Key': question.key }),
        ...(question.payload === undefined ? {} : { 'Content-Length': Buffer.byteLength(question.payload) }),
        ...question.headers,
      },
    })
    request.on('error', reject)
    request.on('timeout', () => request.destroy(new Error(`${method} ${path}: no answer within 30 s`)))
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new Error(`${path} was upgraded; a refusal was expected`))
    })
    request.on('response', (response) => {
      const parts: Buffer[] = []
      response.on('error', reject)
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8')
        const json = /^application\/json\b/.test(response.headers['content-type'] ?? '') && text !== ''
        resolve({
          status: response.statusCode ?? 0,
          rawHeaders: response.rawHeaders,
          headers: response.headers,
          text,
          body: json ? JSON.parse(text) : undefined,
        })
      })
    })
    request.end(question.payload)
  })

/** Asks the service; every answer is held against its own /openapi.json. */
export const ask = async <Body = ErrorBody>(path: string, question: Question = {}): Promise<Answer<Body>> => {
  const answer = await roundTrip(path, question)
  await assertDescribed(question.method ?? 'GET', path, answer)
  return answer as Answer<Body>
}

/** Asks and expects 200, for the many tests whose subject is the body. */
export const read = async <Body>(path: string, key?: string): Promise<Body> => {
  const answer = await ask<Body>(path, key === undefined ? {} : { key })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

/** `{a: 1, b: undefined}` becomes `?a=1`. */
export const query = (parameters: Readonly<Record<string, string | number | undefined>>): string => {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  )
  return given.length === 0 ? '' : `?${given.join('&')}`
}

/** The header names of an answer in the casing that was sent. */
export const headerNames = (answer: Answer<unknown>): string[] =>
  answer.rawHeaders.filter((_, index) => index % 2 === 0)

/** An attempt to open `/v1/stream` that is expected to be refused with an HTTP answer. */
export const refusedUpgrade = (path: string, question: Question = {}) =>
  ask(path, {
    ...question,
    headers: {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      ...question.headers,
    },
  })

export interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string }
}

export const rateHeaders = [
  'X-RateLimit-Limit-Minute',
  'X-RateLimit-Remaining-Minute',
  'X-RateLimit-Reset-Minute',
  'X-RateLimit-Limit-Day',
  'X-RateLimit-Remaining-Day',
] as const

/** One rate header as a number; NaN when it is not there. */
export const rate = (answer: Answer<unknown>, name: (typeof rateHeaders)[number]): number =>
  Number(answer.headers[name.toLowerCase()])
