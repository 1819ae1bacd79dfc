import type { IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https'
import type { KubeConfig } from '@kubernetes/client-node'
import type { Clock } from '../../services/platform/system-clock.ts'
import { within } from '../../services/platform/within.ts'

const answerTimeoutMs = 15_000
const answerBytesMax = 64 * 1_048_576
/** The server ends a watch after so long; a connection that died without a word is given up a little later. */
const watchSeconds = 240
const watchTimeoutMs = (watchSeconds + 30) * 1_000
/** Who writes, as the API server notes it per field. */
const fieldManager = 'fxd-operator'

/** An object as the API server gives it. */
export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly generation?: number
    readonly creationTimestamp?: string
    readonly deletionTimestamp?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly { readonly uid: string; readonly controller?: boolean }[]
  }
}

/** A kind of objects in one namespace; `group` of the core kinds is empty. */
export interface Resource {
  readonly group: string
  readonly version: string
  readonly plural: string
}

/** The API server answered with an error status. */
export class KubeError extends Error {
  /** HTTP status. */
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

/** What the operator asks of the API server, in one namespace. Each call rejects with `KubeError` or a network error. */
export interface KubeApi {
  list<T extends KubeObject>(
    of: Resource,
  ): Promise<{ readonly items: readonly T[]; readonly version: string }>
  /** Calls `take` for each change after the version; resolves when the server ends the watch. */
  watch<T extends KubeObject>(
    of: Resource,
    version: string,
    take: (event: WatchEvent<T>) => void,
    signal: AbortSignal,
  ): Promise<void>
  get<T extends KubeObject>(of: Resource, name: string): Promise<T | undefined>
  /** Server-side apply: fields that are left out and were ours are taken away. */
  apply<T extends KubeObject>(of: Resource, object: T): Promise<T>
  /** The same for `/status` or `/scale`. */
  applyPart<T extends KubeObject>(of: Resource, part: 'status' | 'scale', object: T): Promise<T>
  create<T extends KubeObject>(of: Resource, object: T): Promise<T>
  /** Replaces; a conflict when it was changed since `resourceVersion`. */
  replace<T extends KubeObject>(of: Resource, object: T): Promise<T>
  /** Nothing happens when there is none, or another with the name. */
  delete(of: Resource, name: string, uid?: string): Promise<void>
}

interface Call {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
  readonly contentType?: string
}

export class HttpKubeApi implements KubeApi {
  readonly #config: KubeConfig
  readonly #namespace: string
  readonly #clock: Clock
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 })

  constructor(config: KubeConfig, namespace: string, clock: Clock) {
    this.#config = config
    this.#namespace = namespace
    this.#clock = clock
  }

  async list<T extends KubeObject>(of: Resource): Promise<{ items: readonly T[]; version: string }> {
    const found = await this.#ask<{ items?: T[]; metadata: { resourceVersion: string } }>({
      method: 'GET',
      path: this.#path(of),
    })
    return { items: found.items ?? [], version: found.metadata.resourceVersion }
  }

  async watch<T extends KubeObject>(
    of: Resource,
    version: string,
    take: (event: WatchEvent<T>) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const query = {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: version,
      timeoutSeconds: '300',
    }
    const given = new AbortController()
    const until = AbortSignal.any([signal, given.signal])
    const cancel = this.#clock.after(watchTimeoutMs, () => given.abort(new Error('the watch timed out')))
    try {
      await this.#follow({ method: 'GET', path: this.#path(of), query }, take, until)
    } finally {
      cancel()
    }
  }

  async #follow<T>(call: Call, take: (event: WatchEvent<T>) => void, signal: AbortSignal): Promise<void> {
    const answer = await this.#send(call, signal)
    if (answer.statusCode !== 200) throw errorOf(answer.statusCode ?? 0, await textOf(answer))
    let rest = ''
    for await (const chunk of answer.setEncoding('utf8')) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > answerBytesMax) throw new Error('a watch event is longer than 64 MiB')
      for (const line of lines) if (line !== '') take(JSON.parse(line) as WatchEvent<T>)
    }
  }

  async get<T extends KubeObject>(of: Resource, name: string): Promise<T | undefined> {
    try {
      return await this.#ask<T>({ method: 'GET', path: this.#path(of, name) })
    } catch (cause) {
      if (cause instanceof KubeError && cause.status === 404) return undefined
      throw cause
    }
  }

  apply<T extends KubeObject>(of: Resource, object: T): Promise<T> {
    return this.#apply(this.#path(of, object.metadata.name), object)
  }

  applyPart<T extends KubeObject>(of: Resource, part: 'status' | 'scale', object: T): Promise<T> {
    return this.#apply(`${this.#path(of, object.metadata.name)}/${part}`, object)
  }

  create<T extends KubeObject>(of: Resource, object: T): Promise<T> {
    return this.#ask({ method: 'POST', path: this.#path(of), query: { fieldManager }, body: object })
  }

  replace<T extends KubeObject>(of: Resource, object: T): Promise<T> {
    const path = this.#path(of, object.metadata.name)
    return this.#ask({ method: 'PUT', path, query: { fieldManager }, body: object })
  }

  async delete(of: Resource, name: string, uid?: string): Promise<void> {
    const body = { propagationPolicy: 'Background', ...(uid !== undefined && { preconditions: { uid } }) }
    try {
      await this.#ask({ method: 'DELETE', path: this.#path(of, name), body })
    } catch (cause) {
      if (!(cause instanceof KubeError && (cause.status === 404 || cause.status === 409))) throw cause
    }
  }

  close(): void {
    this.#agent.destroy()
  }

  #apply<T extends KubeObject>(path: string, body: T): Promise<T> {
    const query = { fieldManager, force: 'true' }
    return this.#ask({ method: 'PATCH', path, query, body, contentType: 'application/apply-patch+yaml' })
  }

  #path({ group, version, plural }: Resource, name?: string): string {
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const place = `${root}/namespaces/${encodeURIComponent(this.#namespace)}/${plural}`
    return name === undefined ? place : `${place}/${encodeURIComponent(name)}`
  }

  async #ask<T>(call: Call): Promise<T> {
    const given = new AbortController()
    const answer = async (): Promise<T> => {
      const got = await this.#send(call, given.signal)
      const text = await textOf(got)
      if ((got.statusCode ?? 0) >= 300) throw errorOf(got.statusCode ?? 0, text)
      return JSON.parse(text) as T
    }
    const what = `${call.method} ${call.path} of the API server`
    return within(this.#clock, answerTimeoutMs, what, answer(), () => given.abort())
  }

  async #send(
    { method, path, query = {}, body, contentType }: Call,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const server = this.#config.getCurrentCluster()?.server
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
    // Certificates, or the token as it is now.
    await this.#config.applyToHTTPSOptions(options)
    return new Promise((resolve, reject) => {
      httpsRequest(url, { ...options, agent: this.#agent }, resolve)
        .on('error', reject)
        .end(text)
    })
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
