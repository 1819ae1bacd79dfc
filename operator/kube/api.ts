import type { IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https'
import type { KubeConfig } from '@kubernetes/client-node'
import type { Cancel, Clock } from '../../services/platform/system-clock.ts'
import { within } from '../../services/platform/within.ts'
import type { KubeObject, Resource } from './object.ts'

const readTimeoutMs = 15_000
/** Write timeout. A leader stops this long before another may start, so that none of its calls is in flight then. */
export const writeTimeoutMs = 5_000
const answerBytesMax = 64 * 1_048_576
/** Maximum duration of a watch; then the server ends it. */
const watchSeconds = 240
/** Watch timeout without any message. The server sends a bookmark within 75 s, so a silent connection is lost. */
const watchSilenceMs = 90_000
const fieldManager = 'fxd-operator'

/** The API server answered with an error status. */
export class KubeError extends Error {
  readonly status: number
  /** Such as `AlreadyExists` or `Expired`. */
  readonly reason: string

  constructor(status: number, reason: string, message: string) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: T
}

export interface WatchListener<T> {
  readonly opened: () => void
  readonly received: (event: WatchEvent<T>) => void
  readonly signal: AbortSignal
}

/** Calls of the API server for one namespace. Each rejects with `KubeError` or a network error. */
export interface KubeApi {
  list<T extends KubeObject>(
    of: Resource,
  ): Promise<{ readonly items: readonly T[]; readonly version: string }>
  /** Calls `received` for each change after the version. Resolves when the server ends the watch. */
  watch<T extends KubeObject>(of: Resource, version: string, listener: WatchListener<T>): Promise<void>
  get<T extends KubeObject>(of: Resource, name: string): Promise<T | undefined>
  /** Server-side apply: removes fields that the operator set before and leaves out now. */
  apply<T extends KubeObject>(of: Resource, object: T): Promise<T>
  /** Server-side apply to `/status`. */
  applyStatus<T extends KubeObject>(of: Resource, object: T): Promise<T>
  /** Custom resources have no server-side apply of `/scale`. Rejects with a conflict if `resourceVersion` changed. */
  scale<T extends KubeObject>(of: Resource, object: T, replicas: number): Promise<void>
  create<T extends KubeObject>(of: Resource, object: T): Promise<T>
  /** Replaces the object. Rejects with a conflict when it changed since `resourceVersion`. */
  replace<T extends KubeObject>(of: Resource, object: T): Promise<T>
  /** Deletes the object. Does nothing when it is missing or does not match `only`. */
  delete(of: Resource, name: string, only: Preconditions): Promise<void>
}

/** Preconditions of a delete; a field that is left out is not compared. */
interface Preconditions {
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
}

interface Call {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
  readonly contentType?: string
}

interface HttpKubeApiDeps {
  readonly config: KubeConfig
  readonly namespace: string
  readonly clock: Clock
  /** Called before each write. The write rejects with what it throws. */
  readonly beforeWrite: (of: Resource) => void
}

export class HttpKubeApi implements KubeApi {
  readonly #deps: HttpKubeApiDeps
  /** Maximum sockets; each watch occupies one. */
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 })

  constructor(deps: HttpKubeApiDeps) {
    this.#deps = deps
  }

  async list<T extends KubeObject>(of: Resource): Promise<{ items: readonly T[]; version: string }> {
    const found = await this.#request<{ items?: T[]; metadata: { resourceVersion: string } }>({
      method: 'GET',
      path: this.#path(of),
      query: labelOf(of),
    })
    return { items: found.items ?? [], version: found.metadata.resourceVersion }
  }

  async watch<T extends KubeObject>(
    of: Resource,
    version: string,
    { opened, received, signal }: WatchListener<T>,
  ): Promise<void> {
    const query = {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: version,
      timeoutSeconds: String(watchSeconds),
      ...labelOf(of),
    }
    const given = new AbortController()
    const until = AbortSignal.any([signal, given.signal])
    const late = (): void => given.abort(new Error('the watch timed out'))
    const arm = (): Cancel => this.#deps.clock.after(watchSilenceMs, late)
    let cancel = arm()
    const parseLine = (line: string): void => {
      cancel()
      cancel = arm()
      received(JSON.parse(line) as WatchEvent<T>)
    }
    try {
      const answer = await this.#send({ method: 'GET', path: this.#path(of), query }, until)
      if (answer.statusCode !== 200) throw errorOf(answer.statusCode ?? 0, await textOf(answer))
      opened()
      await readLines(answer, parseLine)
    } finally {
      cancel()
    }
  }

  async get<T extends KubeObject>(of: Resource, name: string): Promise<T | undefined> {
    try {
      return await this.#request<T>({ method: 'GET', path: this.#path(of, name) })
    } catch (cause) {
      if (cause instanceof KubeError && cause.status === 404) return undefined
      throw cause
    }
  }

  async apply<T extends KubeObject>(of: Resource, object: T): Promise<T> {
    return this.#apply(of, this.#path(of, object.metadata.name), object)
  }

  async applyStatus<T extends KubeObject>(of: Resource, object: T): Promise<T> {
    return this.#apply(of, `${this.#path(of, object.metadata.name)}/status`, object)
  }

  async scale<T extends KubeObject>(of: Resource, object: T, replicas: number): Promise<void> {
    const { name, resourceVersion } = object.metadata
    const path = `${this.#path(of, name)}/scale`
    const contentType = 'application/merge-patch+json'
    const body = { metadata: { resourceVersion }, spec: { replicas } }
    await this.#write(of, { method: 'PATCH', path, query: { fieldManager }, body, contentType })
  }

  async create<T extends KubeObject>(of: Resource, body: T): Promise<T> {
    return this.#write(of, { method: 'POST', path: this.#path(of), query: { fieldManager }, body })
  }

  async replace<T extends KubeObject>(of: Resource, body: T): Promise<T> {
    const path = this.#path(of, body.metadata.name)
    return this.#write(of, { method: 'PUT', path, query: { fieldManager }, body })
  }

  async delete(of: Resource, name: string, preconditions: Preconditions): Promise<void> {
    const body = { propagationPolicy: 'Background', preconditions }
    try {
      await this.#write(of, { method: 'DELETE', path: this.#path(of, name), body })
    } catch (cause) {
      if (!(cause instanceof KubeError && (cause.status === 404 || cause.status === 409))) throw cause
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #apply<T extends KubeObject>(of: Resource, path: string, body: T): Promise<T> {
    const query = { fieldManager, force: 'true' }
    const contentType = 'application/apply-patch+yaml'
    return this.#write(of, { method: 'PATCH', path, query, body, contentType })
  }

  async #write<T>(of: Resource, call: Call): Promise<T> {
    this.#deps.beforeWrite(of)
    return this.#request(call, writeTimeoutMs)
  }

  #path({ group, version, plural }: Resource, name?: string): string {
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const place = `${root}/namespaces/${encodeURIComponent(this.#deps.namespace)}/${plural}`
    return name === undefined ? place : `${place}/${encodeURIComponent(name)}`
  }

  async #request<T>(call: Call, timeoutMs = readTimeoutMs): Promise<T> {
    const given = new AbortController()
    const answer = async (): Promise<T> => {
      const got = await this.#send(call, given.signal)
      const text = await textOf(got)
      if ((got.statusCode ?? 0) >= 300) throw errorOf(got.statusCode ?? 0, text)
      return JSON.parse(text) as T
    }
    const what = `${call.method} ${call.path} of the API server`
    return within(this.#deps.clock, timeoutMs, what, answer(), () => given.abort())
  }

  async #send(
    { method, path, query = {}, body, contentType }: Call,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const server = this.#deps.config.getCurrentCluster()?.server
    if (server === undefined) throw new Error('the Kubernetes configuration names no cluster')
    const url = new URL(server.replace(/\/$/, '') + path)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const text = body === undefined ? undefined : JSON.stringify(body)
    const options: RequestOptions = {
      method,
      signal,
      agent: this.#agent,
      headers: {
        accept: 'application/json',
        ...(text !== undefined && {
          'content-type': contentType ?? 'application/json',
          'content-length': String(Buffer.byteLength(text)),
        }),
      },
    }
    // Adds certificates or the current token.
    await this.#deps.config.applyToHTTPSOptions(options)
    return new Promise((resolve, reject) => {
      httpsRequest(url, { ...options, agent: this.#agent }, resolve)
        .on('error', reject)
        .end(text)
    })
  }
}

const labelOf = ({ label }: Resource): Readonly<Record<string, string>> =>
  label === undefined ? {} : { labelSelector: label }

async function readLines(answer: IncomingMessage, received: (line: string) => void): Promise<void> {
  let rest = ''
  for await (const chunk of answer.setEncoding('utf8')) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > answerBytesMax) throw new Error('a watch event is longer than 64 MiB')
    for (const line of lines) if (line !== '') received(line)
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) {
    text += String(chunk)
    if (text.length > answerBytesMax) throw new Error('an answer is longer than 64 MiB')
  }
  return text
}

function errorOf(status: number, text: string): KubeError {
  try {
    const { reason = '', message = text } = JSON.parse(text) as { reason?: string; message?: string }
    return new KubeError(status, reason, message)
  } catch {
    return new KubeError(status, '', text.slice(0, 500))
  }
}
