// Original file: proto/fxd/v1/registry.proto


export interface AcceptTerminalResponse {
  /**
   * The terminal that the feed accepted before; absent: none.
   */
  'terminalIdentity'?: (string);
  '_terminalIdentity'?: "terminalIdentity";
}

export interface AcceptTerminalResponse__Output {
  /**
   * The terminal that the feed accepted before; absent: none.
   */
  'terminalIdentity'?: (string);
  '_terminalIdentity'?: "terminalIdentity";
}
