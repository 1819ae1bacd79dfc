import type { Span } from '../bars/window.ts'
import type { FeedSeconds } from '../clocks/feed-clock.ts'
import type { Resolution } from '../feeds/resolution.ts'

/** The version of docs/terminal-protocol.md. */
export const terminalProtocol = 1

/** What an instance of the program in the terminal does: live bars, history, or both. */
export type TerminalRole = 'Both' | 'Live' | 'History'

export interface TerminalHello {
  readonly program: string
  readonly version: string
  readonly kind: 'MT4' | 'MT5'
  readonly build: string
  readonly server: string
  readonly company: string
  /** Digest of server and login in hexadecimal digits. */
  readonly account: string
  /** 0: unlimited. */
  readonly maxBars: number
  readonly newestTick: FeedSeconds | undefined
  /** UTC seconds by the clock of the terminal's machine. */
  readonly pcUtc: number
  readonly role: TerminalRole
}

export interface TerminalSeries {
  readonly raw: string
  readonly resolution: Resolution
}

export interface TerminalSymbol {
  readonly raw: string
  readonly digits: number
  readonly path: string
  readonly description: string
}

/** One bar as the terminal prints it: prices are decimal text. */
export interface TerminalBar {
  readonly time: FeedSeconds
  readonly open: string
  readonly high: string
  readonly low: string
  readonly close: string
  readonly volume: number
}

export type TerminalLine =
  | { readonly line: 'hello'; readonly hello: TerminalHello }
  | { readonly line: 'symbol'; readonly symbol: TerminalSymbol }
  | { readonly line: 'catalogue'; readonly count: number }
  | {
      readonly line: 'bars'
      readonly series: TerminalSeries
      readonly bars: readonly TerminalBar[]
      /** Whether the last bar may still be forming. */
      readonly lastIsOpen: boolean
    }
  | { readonly line: 'complete'; readonly series: TerminalSeries; readonly span: Span }
  | { readonly line: 'loading'; readonly series: TerminalSeries }
  | { readonly line: 'late'; readonly series: TerminalSeries }
  | { readonly line: 'beyond'; readonly series: TerminalSeries; readonly oldest: FeedSeconds }
  | { readonly line: 'tick'; readonly time: FeedSeconds; readonly raw: string }
  | { readonly line: 'connected'; readonly is: boolean }
  | { readonly line: 'watched'; readonly resolution: Resolution; readonly to: FeedSeconds }
  | { readonly line: 'memory'; readonly usedMb: number; readonly totalMb: number }
  | { readonly line: 'error'; readonly number: number; readonly function: string; readonly raw: string }

export interface TerminalPost {
  readonly session: number
  readonly sequence: number
  /** A post with `hello` has session 0 and sequence 0, and nothing else. */
  readonly lines: readonly TerminalLine[]
}

export type AnswerLine =
  | { readonly line: 'symbols' }
  | { readonly line: 'select'; readonly raw: string }
  | { readonly line: 'newest'; readonly series: TerminalSeries; readonly time: FeedSeconds | undefined }
  | { readonly line: 'want'; readonly series: TerminalSeries; readonly span: Span }
  /** Not sent by this version; a program must obey it. */
  | { readonly line: 'pause'; readonly ms: number }
  | { readonly line: 'standby' }
  /** Not sent by this version; a program must obey it. */
  | { readonly line: 'say'; readonly text: string }
