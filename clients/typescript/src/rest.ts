import { asFxdError, FxdError, invalid, mayPass } from './error.ts'
import { jitterMs, sleep } from './pause.ts'
import type { Logger } from './types.ts'

const timeoutMs = 60_000

/** Asked before each request and connection, since a key may be rotated. */
export type ReadKey = () => string | Promise<string>
type Query = Readonly<Record<string, string | number | undefined>>

interface Body {
  readonly error?: { readonly code?: string; readonly message?: string }
}

/** Requests of `/v1`. */
export class Rest {
  readonly readKey: ReadKey
  /** Requests that were tried again. */
  retries = 0
  readonly #url: string
  readonly #logger: Logger

  constructor(url: string, readKey: ReadKey, logger: Logger) {
    this.#url = url.replace(/\/+$/, '')
    this.readKey = readKey
    this.#logger = logger
  }

  /** Throws `FxdError`. A key that was rotated meanwhile is read again. */
  async get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
    const key = await this.readKey()
    try {
      return await this.#ask<T>(path, query, key, signal)
    } catch (cause) {
      const next = (cause as FxdError).status === 401 ? await this.readKey() : key
      if (next === key) throw cause
      return await this.#ask<T>(path, query, next, signal)
    }
  }

  async #ask<T>(path: string, query: Query, key: string, signal?: AbortSignal): Promise<T> {
    if (/[^!-~]/.test(key)) throw invalid('key', 'a space or another character that no key has')
    const given = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value))
    const text = given.toString()
    const timeout = AbortSignal.timeout(timeoutMs)
    let response: Response
    let body: T & Body
    try {
      response = await fetch(`${this.#url}/v1/${path}${text && '?'}${text}`, {
        headers: { 'X-API-Key': key },
        // Never sends the key to another address.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      })
      const answer = await response.text()
      if (isRedirect(response)) throw redirected(response)
      body = (response.ok ? JSON.parse(answer) : parsed(answer)) as T & Body
    } catch (cause) {
      throw asFxdError(cause)
    }
    if (response.ok) return body
    const { code = 'UNAVAILABLE', message = `the answer has status ${response.status}` } = body.error ?? {}
    // A proxy may send a date.
    const retryAfter = Number(response.headers.get('Retry-After')) || undefined
    throw new FxdError(code, message, { status: response.status, retryAfter })
  }

  /** Like `get`, and retries what may succeed later for this time, in milliseconds, or until the signal aborts. */
  async getPatiently<T>(
    path: string,
    query: Query,
    patienceMs = Number.POSITIVE_INFINITY,
    signal?: AbortSignal,
  ): Promise<T> {
    const endMs = performance.now() + patienceMs
    for (let failures = 0; ; failures++) {
      try {
        return await this.get<T>(path, query, signal)
      } catch (cause) {
        if (!mayPass(cause) || signal?.aborted) throw cause
        const retryInMs = (cause.retryAfter ?? 0) * 1_000 + jitterMs(failures)
        if (performance.now() + retryInMs > endMs) throw cause
        this.retries += 1
        this.#logger.info?.('request failed; retrying', { path, code: cause.code, retryInMs })
        await sleep(retryInMs, signal)
      }
    }
  }
}

/** A browser hides status and address of a redirect. */
const isRedirect = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400)

function redirected({ status, headers }: Response): FxdError {
  const address = headers.get('Location') ?? 'another address'
  return new FxdError('REDIRECTED', `the address redirects to ${address}; give this one as url`, { status })
}

/** The body of a failure may come from a proxy. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}
