import http from 'node:http'
import { expect } from 'vitest'
import { assertDescribed } from './openapi.ts'
import { target } from './target.ts'

/** One HTTP answer; `rawHeaders` keeps the casing that was sent. */
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
  /** Request body, sent unchanged; the service accepts no bodies. */
  readonly payload?: string
  /** Source address on loopback; the process of the suite trusts 127.0.0.2 as a proxy. */
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

/** Sends a request; every answer is validated against the /openapi.json of the service. */
export const ask = async <Body = ErrorBody>(path: string, question: Question = {}): Promise<Answer<Body>> => {
  const answer = await roundTrip(path, question)
  await assertDescribed(question.method ?? 'GET', path, answer)
  return answer as Answer<Body>
}

/** Sends a request, expects 200 and returns the body. */
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

/** Header names of an answer in the casing that was sent. */
export const headerNames = (answer: Answer<unknown>): string[] =>
  answer.rawHeaders.filter((_, index) => index % 2 === 0)

/** Requests an upgrade and returns the HTTP answer that refuses it; rejects when the upgrade succeeds. */
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

/** One rate header as a number; NaN when it is absent. */
export const rate = (answer: Answer<unknown>, name: (typeof rateHeaders)[number]): number =>
  Number(answer.headers[name.toLowerCase()])
