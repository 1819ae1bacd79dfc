import type { TerminalKind } from './programs.ts'

export const complaintsOf = (_text: string, _kind: TerminalKind): string[] => []
