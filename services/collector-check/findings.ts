/** What is judged. `page` is the heading in docs/collectors.md, `unseen` why a rule may stay without a judgement. */
const rules = {
  session: {
    ok: 'ingest refused no session and no message',
    unseen: 'no collector connected',
    page: 'When a session ends',
  },
  hello: {
    ok: 'every Hello has the same collector_id, the mode LIVE and the same feed',
    unseen: 'no Hello arrived',
    page: 'Hello',
  },
  catalogue: {
    ok: 'every session sent its Catalogue before its bars',
    unseen: 'no session got as far as Known',
    page: 'Catalogue',
  },
  names: {
    ok: 'bars and windows have clean names',
    unseen: 'no clean name differs from its raw name; a manifest with suffixes, or a name, shows more',
    page: 'Catalogue',
  },
  bars: { ok: 'ingest refused no bar and no window', unseen: 'no bar arrived', page: 'Bars' },
  closed: { ok: 'live bars were closed', unseen: 'no live bar arrived', page: 'Bars' },
  order: { ok: 'live bars came in time order', unseen: 'no live bar arrived', page: 'Bars' },
  revisions: {
    ok: 'revisions are times of the clock of ingest, which was set forward and back',
    unseen: 'no new live bar arrived after the clock of ingest was set forward',
    page: 'Welcome: lead or stand by',
  },
  sequence: {
    ok: 'sequences began with 1 and had no jump',
    unseen: 'no Bars or Window arrived',
    page: 'Acks, refusals and lost connections',
  },
  windows: {
    ok: 'every window came after the Acks of its bars',
    unseen: 'no window arrived',
    page: 'Windows',
  },
  bounds: {
    ok: 'no bound of messages without an Ack was reached',
    unseen: 'no Ack was withheld',
    page: 'Flow control',
  },
  slow: {
    ok: 'no history came during the pause of Slow',
    unseen: 'no history came after Slow',
    page: 'Flow control',
  },
  live: {
    ok: 'live bars went on while Acks were withheld',
    unseen: 'fewer than two live messages came while Acks were withheld',
    page: 'Acks, refusals and lost connections',
  },
  heartbeats: {
    ok: 'a heartbeat came every 5 s',
    unseen: 'no session lasted long enough',
    page: 'Heartbeats, clocks and dead connections',
  },
  reconnect: {
    ok: 'the collector connected again, with pauses',
    unseen: 'no connection was killed',
    page: 'When a session ends',
  },
  standby: {
    ok: 'the collector sent nothing while it stood by',
    unseen: 'the collector did not stand by',
    page: 'Welcome: lead or stand by',
  },
  resend: {
    ok: 'bars without an Ack came again, in order, with their revisions',
    unseen: 'no bar was without an Ack when a connection was killed',
    page: 'Acks, refusals and lost connections',
  },
  known: {
    ok: 'no history came again that Known had listed',
    unseen: 'Known listed no window, or no session ended',
    page: 'Known: what need not be sent again',
  },
  clockSet: {
    ok: 'bars that were refused when a clock was set came again in the next session',
    unseen: 'no bar was refused when the clock was set back',
    page: 'Bars',
  },
} as const

export type Rule = keyof typeof rules

/** Maximum sentences of one rule; further ones are counted. */
const sentencesMax = 3

/** One line of `fxd collector check`. */
export interface Finding {
  readonly rule: Rule
  readonly state: 'ok' | 'wrong' | 'not judged'
  readonly found: readonly string[]
  /** The heading in docs/collectors.md. */
  readonly page: string
}

/** Collects what was seen of each rule. */
export class Findings {
  readonly #seen = new Set<Rule>()
  readonly #wrong = new Map<Rule, { readonly sentences: string[]; more: number }>()
  readonly #onWrong: (rule: Rule, sentence: string) => void

  constructor(onWrong: (rule: Rule, sentence: string) => void) {
    this.#onWrong = onWrong
  }

  /** Enough was seen for a judgement: the rule is kept unless something was wrong. */
  seen(...which: readonly Rule[]): void {
    for (const rule of which) this.#seen.add(rule)
  }

  wrong(rule: Rule, sentence: string): void {
    const had = this.#wrong.get(rule) ?? { sentences: [], more: 0 }
    this.#wrong.set(rule, had)
    if (had.sentences.length === sentencesMax) {
      had.more += 1
      return
    }
    had.sentences.push(sentence)
    this.#onWrong(rule, sentence)
  }

  hasWrong(rule: Rule): boolean {
    return this.#wrong.has(rule)
  }

  list(): readonly Finding[] {
    return (Object.keys(rules) as Rule[]).map((rule) => {
      const { ok, unseen, page } = rules[rule]
      const wrong = this.#wrong.get(rule)
      if (wrong) {
        const more = wrong.more > 0 ? [`${wrong.more} more of this kind`] : []
        return { rule, state: 'wrong', found: [...wrong.sentences, ...more], page }
      }
      const isSeen = this.#seen.has(rule)
      return { rule, state: isSeen ? 'ok' : 'not judged', found: [isSeen ? ok : unseen], page }
    })
  }
}
