import type { IncomingMessage } from 'node:http'
import type { FeedKey } from '../../../../core/feeds/compound-key.ts'
import { type PostFault, parseHead } from '../../../../core/terminal/head.ts'
import { parsePost } from '../../../../core/terminal/parse-post.ts'
import { addressMatcher, isLoopback } from '../../../../platform/addresses.ts'
import { clientAddress } from '../../../../platform/http/client-address.ts'
import type { TerminalFeed } from '../terminal-feed.ts'
import type { TerminalEndpointDeps } from './endpoint-deps.ts'
import { FeedSessions } from './feed-sessions.ts'
import { readBody, refuseLarge } from './read-body.ts'
import { Refusal } from './refusal.ts'

/** Maximum bodies of one feed that arrive at once: each takes up to 1 MiB of memory. */
const bodiesPerFeedMax = 8

interface CollectedFeed {
  readonly feed: TerminalFeed
  readonly sessions: FeedSessions
  /** Bodies that arrive now. */
  bodies: number
}

/** Where a post came from. */
export interface PostOrigin {
  readonly address: string
  /** The feed of its token; `undefined` without a known one. */
  readonly feed: FeedKey | undefined
}

type PostsDeps = Omit<TerminalEndpointDeps, 'address' | 'acceptFailed' | 'log' | 'metrics'>

/** Takes posts: checks who sends them, reads them, and finds the session of each. */
export class TerminalPosts {
  isStopping = false
  readonly #deps: PostsDeps
  readonly #isTrusted: (address: string) => boolean
  readonly #feeds = new Map<FeedKey, CollectedFeed>()

  constructor(deps: PostsDeps) {
    this.#deps = deps
    this.#isTrusted = addressMatcher(deps.trustedProxies)
  }

  originOf(request: IncomingMessage): PostOrigin {
    const forwardedFor = request.headers['x-forwarded-for']
    const peer = request.socket.remoteAddress
    const address = clientAddress({ peer, forwardedFor, trusted: this.#isTrusted })
    return { address, feed: this.#feedOf(request) }
  }

  /** The feed of the request's token; empty without a known one. */
  callerOf(request: IncomingMessage): string {
    return this.#feedOf(request) ?? ''
  }

  /** Resolves with the text of the answer; rejects with a `Refusal`. */
  async answer(request: IncomingMessage, { address, feed }: PostOrigin): Promise<string> {
    if (this.isStopping) throw new Refusal('NOT_TAKEN', 'The collector is stopping; post the same again.')
    this.#refusePlain(request)
    if (feed === undefined) throw new Refusal('TOKEN_INVALID', tokenInvalid)
    const collected = this.#collected(feed)
    const text = await this.#read(request, collected)
    return this.#process(text, collected.sessions, address)
  }

  endSilent(): void {
    for (const { sessions } of this.#feeds.values()) sessions.endSilent()
  }

  async #process(text: string, sessions: FeedSessions, address: string): Promise<string> {
    const head = parseHead(text)
    sessions.count('code' in head ? 0 : head.session)
    if ('code' in head) throw refusalOf(head)
    const kept = sessions.repeated(head)
    if (kept !== undefined) return kept
    const post = parsePost(text)
    if ('code' in post) throw refusalOf(post)
    const [first] = post.lines
    return first?.line === 'hello' ? sessions.greet(first.hello, address) : sessions.take(head, post.lines)
  }

  async #read(request: IncomingMessage, collected: CollectedFeed): Promise<string> {
    refuseLarge(request)
    if (collected.bodies >= bodiesPerFeedMax)
      throw new Refusal(
        'BUSY',
        `${bodiesPerFeedMax} posts of this feed arrive now; post again after a second.`,
        1,
      )
    collected.bodies += 1
    try {
      return await readBody(request, this.#deps.clock)
    } finally {
      collected.bodies -= 1
    }
  }

  #feedOf({ headers }: IncomingMessage): FeedKey | undefined {
    const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
    return token === undefined ? undefined : this.#deps.feedOf(token)
  }

  /** A collector that was restarted in this process knows none of the earlier sessions. */
  #collected(key: FeedKey): CollectedFeed {
    const feed = this.#deps.terminalOf(key)
    const known = this.#feeds.get(key)
    if (feed && known?.feed === feed) return known
    this.#feeds.delete(key)
    if (!feed)
      throw new Refusal('NOT_TAKEN', `This process does not collect ${key} now; post the same again.`)
    const collected = { feed, sessions: new FeedSessions(key, feed, this.#deps.clock), bodies: 0 }
    this.#feeds.set(key, collected)
    return collected
  }

  #refusePlain({ socket }: IncomingMessage): void {
    const { tls, isPlainAllowed } = this.#deps
    const peer = socket.remoteAddress ?? ''
    if (tls || isPlainAllowed || isLoopback(peer) || this.#isTrusted(peer)) return
    throw new Refusal(
      'TOKEN_INVALID',
      'The token came without TLS from an address that is no proxy of FXD_TRUSTED_PROXIES; post to the https address, and replace the token.',
    )
  }
}

const tokenInvalid =
  'The token is missing or unknown here; "fxd terminal token FEED" makes one, and on Kubernetes the Secret NAME-terminal has it. The header is Authorization: Bearer fxt_….'

const refusalOf = ({ code, sentence }: PostFault): Refusal => new Refusal(code, sentence)
