import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { text as textOf } from 'node:stream/consumers'
import type { KubeObject } from '../../../../operator/kube/object.ts'

/** An answer of the API server with an error status. */
class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const applyType = 'application/apply-patch+yaml'
const mergeType = 'application/merge-patch+json'

/** Calls of the API server as one user. */
export class Admin {
  readonly #url: string
  readonly #token: string
  readonly #agent: Agent

  constructor(url: string, ca: string, token: string) {
    this.#url = url
    this.#token = token
    this.#agent = new Agent({ ca: readFileSync(ca), keepAlive: true })
  }

  async ask<T>(method: string, path: string, body?: object, contentType = 'application/json'): Promise<T> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': contentType }
    const [status, said] = await new Promise<[number, string]>((resolve, reject) => {
      request(this.#url + path, { method, agent: this.#agent, headers }, (answer) => {
        textOf(answer).then((whole) => resolve([answer.statusCode ?? 0, whole]), reject)
      })
        .on('error', reject)
        .end(text)
    })
    const parsed: unknown = said.startsWith('{') ? JSON.parse(said) : said
    if (status < 300) return parsed as T
    throw new Refused(status, (parsed as { message?: string }).message ?? said)
  }

  /** Applies as `kubectl apply --server-side` does. */
  apply<T extends KubeObject>(collection: string, object: T): Promise<T> {
    const path = `${collection}/${object.metadata.name}?fieldManager=test&force=true`
    return this.ask('PATCH', path, object, applyType)
  }

  /** Patches an object, its status or its scale. */
  patch<T extends KubeObject>(path: string, change: object): Promise<T> {
    return this.ask('PATCH', `${path}?fieldManager=test`, change, mergeType)
  }

  async get<T extends KubeObject>(path: string): Promise<T | undefined> {
    try {
      return await this.ask<T>('GET', path)
    } catch (cause) {
      if (cause instanceof Refused && cause.status === 404) return undefined
      throw cause
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}
