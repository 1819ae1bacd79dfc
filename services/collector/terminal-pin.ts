import type { TerminalHello } from '../core/terminal/lines.ts'

/** Company, server and account of a terminal: what a feed pins. The account is a digest. */
export const terminalIdentity = ({ company, server, account }: TerminalHello): string =>
  `${company} / ${server} / ${account.toLowerCase()}`

/** The terminal that a feed accepts: the first one, until a person accepts another. Ingest keeps it. */
export class TerminalPin {
  /** Whether ingest has said it. */
  isKnown = false
  /** The result of `terminalIdentity`; `undefined`: no terminal yet, the next one is accepted. */
  identity: string | undefined

  /** Pins this terminal, if none is pinned. The next heartbeat tells ingest. */
  offer(identity: string): void {
    this.identity ??= identity
  }

  /** Ingest has said which terminal the feed accepts. */
  told(identity: string | undefined): void {
    this.isKnown = true
    this.identity = identity
  }
}
