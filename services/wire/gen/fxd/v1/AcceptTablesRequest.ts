// Original file: proto/fxd/v1/registry.proto


export interface AcceptTablesRequest {
  /**
   * Empty: all tables that are not the ones that fxd wrote.
   */
  'tables'?: (string)[];
}

export interface AcceptTablesRequest__Output {
  /**
   * Empty: all tables that are not the ones that fxd wrote.
   */
  'tables': (string)[];
}
