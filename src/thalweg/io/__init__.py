"""From files and tables to rows that a reasoner accepts, and from its tables to files.

Reading turns RTEC-style CSV, headed CSV/TSV, JSONL, Parquet and anything that speaks the Arrow C stream
interface into `protocol.Rows`, chunk by chunk, and puts every bad row into the `rejected` table. No reasoning
happens here.
"""
