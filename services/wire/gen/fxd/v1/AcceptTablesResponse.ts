// Original file: proto/fxd/v1/registry.proto


export interface AcceptTablesResponse {
  'accepted'?: (string)[];
  /**
   * Tables that are still missing.
   */
  'missing'?: (string)[];
}

export interface AcceptTablesResponse__Output {
  'accepted': (string)[];
  /**
   * Tables that are still missing.
   */
  'missing': (string)[];
}
