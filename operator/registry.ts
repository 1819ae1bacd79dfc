import { type ServiceError, status } from '@grpc/grpc-js'
import type { Clock } from '../services/platform/system-clock.ts'
import type { ClientIdentity } from '../services/wire/client.ts'
import type { Feed__Output } from '../services/wire/gen/fxd/v1/Feed.ts'
import type { Key__Output } from '../services/wire/gen/fxd/v1/Key.ts'
import { readPages } from '../services/wire/read-pages.ts'
import {
  type AnswerOf,
  type RegistryCall,
  type RequestOf,
  registryClient,
} from '../services/wire/unary-client.ts'
import { Listing } from './listing.ts'
import { StoreHealth } from './store-health.ts'

const callTimeoutMs = 5_000

export interface RegistryDeps {
  /** host:port of each ingest, tried one after another. */
  readonly addresses: readonly string[]
  readonly identity: () => ClientIdentity
  readonly clock: Clock
  /** Called before each call that changes something. The call rejects with what it throws. */
  readonly beforeWrite: () => void
}

type Client = ReturnType<typeof registryClient>

/** The registry of ingest: its lists as last read, and the calls that change it. */
export class Registry {
  readonly #deps: RegistryDeps
  #at = 0
  #client: { readonly id: string; readonly client: Client } | undefined
  /** Ids of the signing keys whose tokens ingest accepts. */
  #signingKeys = new Set<string>()
  #storeIdentity = ''
  /** Feeds by BROKER:ACCOUNT, including hidden ones. */
  readonly feeds: Listing<Feed__Output>
  readonly keys: Listing<Key__Output>
  readonly stores: StoreHealth

  constructor(deps: RegistryDeps) {
    this.#deps = deps
    this.feeds = new Listing('feeds', deps.clock, () => this.#listFeeds())
    this.keys = new Listing('keys', deps.clock, () => this.#listKeys())
    this.stores = new StoreHealth(deps.clock, () => this.#call('GetHealth', {}))
  }

  /** Identity of the store as ingest last said; empty: unknown. */
  get storeIdentity(): string {
    return this.#storeIdentity
  }

  async applyFeed(request: RequestOf<'ApplyFeed'>): Promise<Feed__Output> {
    const feed = await this.#change('ApplyFeed', request)
    this.feeds.set(feed.key, feed)
    return feed
  }

  async removeFeed(key: string, uid: string): Promise<void> {
    await this.#change('RemoveFeed', { key, uid })
    const had = this.feeds.get(key)
    if (had) this.feeds.set(key, { ...had, hidden: true })
  }

  accepts(signingKey: string): boolean {
    return this.#signingKeys.has(signingKey)
  }

  async issueFeedToken(feed: string, expires: string): Promise<AnswerOf<'IssueFeedToken'>> {
    const issued = await this.#change('IssueFeedToken', { feeds: [feed], expires })
    // The list may be older than this key. Without the key the new token would be renewed again and again.
    this.#signingKeys.add(issued.signingKey)
    return issued
  }

  async putKey(request: RequestOf<'PutKey'>): Promise<Key__Output> {
    return this.#record(await this.#change('PutKey', request))
  }

  async revokeKey(id: string): Promise<Key__Output> {
    return this.#record(await this.#change('RevokeKey', { id }))
  }

  async suspendKey(id: string, owner: string): Promise<void> {
    await this.#change('SuspendKey', { id, owner })
    const had = this.keys.get(id)
    if (had) this.keys.set(id, { ...had, state: 'inactive' })
  }

  close(): void {
    this.#client?.client.close()
  }

  #record(key: Key__Output): Key__Output {
    this.keys.set(key.id, key)
    return key
  }

  async #listFeeds(): Promise<Map<string, Feed__Output>> {
    const pages = await readPages((after) => this.#call('ListFeeds', { after }))
    this.#signingKeys = new Set(pages.at(-1)?.signingKeys)
    this.#storeIdentity = pages.at(-1)?.storeIdentity ?? ''
    return new Map(pages.flatMap(({ feeds }) => feeds.map((feed) => [feed.key, feed])))
  }

  async #listKeys(): Promise<Map<string, Key__Output>> {
    const pages = await readPages((after) => this.#call('ListKeys', { after }))
    return new Map(pages.flatMap(({ keys }) => keys.map((key) => [key.id, key])))
  }

  #change<Name extends RegistryCall>(name: Name, request: RequestOf<Name>): Promise<AnswerOf<Name>> {
    return this.#call(name, request, this.#deps.beforeWrite)
  }

  /** Tries the next address when one is unavailable. Every call may be repeated. */
  async #call<Name extends RegistryCall>(
    name: Name,
    request: RequestOf<Name>,
    beforeEach = (): void => undefined,
  ): Promise<AnswerOf<Name>> {
    const { addresses, clock } = this.#deps
    for (let tries = 1; ; tries++) {
      beforeEach()
      const at = this.#at
      try {
        const client = this.#open(addresses[at % addresses.length] ?? '')
        return await client.call(name, request, { deadline: clock.utcMs() + callTimeoutMs })
      } catch (cause) {
        const { code } = cause as ServiceError
        if (code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED)
          // Concurrent calls that fail continue with the same address.
          this.#at = Math.max(this.#at, at + 1)
        if (code !== status.UNAVAILABLE || tries >= addresses.length) throw cause
      }
    }
  }

  /** Reuses the client while address, token and certificates stay the same. */
  #open(address: string): Client {
    const identity = this.#deps.identity()
    const { token, tls } = identity
    const id = JSON.stringify([address, token, [tls?.ca, tls?.pair?.cert].map((each) => each?.toString())])
    if (this.#client?.id !== id) {
      this.#client?.client.close()
      this.#client = { id, client: registryClient(address, identity) }
    }
    return this.#client.client
  }
}
