import type { TerminalHello } from '../../../../core/terminal/lines.ts'

/** Company, server and account of a terminal: what a feed pins. The account is a digest. */
export const terminalIdentity = ({ company, server, account }: TerminalHello): string =>
  `${company} / ${server} / ${account.toLowerCase()}`
