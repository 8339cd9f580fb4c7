"""An OTLP/HTTP receiver that decodes with OpenTelemetry's own messages. usage: otlp_receiver.py FILE

Prints its port, then writes each record to FILE as a line: event name, time, and attributes as JSON.
"""
import http.server
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as service


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            request = json_format.Parse(body, service.ExportLogsServiceRequest())
        except json_format.ParseError as error:
            return self.answer(400, json.dumps({"message": str(error)}))
        with open(sys.argv[1], "a") as out:
            for resource in request.resource_logs:
                for scope in resource.scope_logs:
                    for record in scope.log_records:
                        fields = {it.key: json_format.MessageToDict(it.value) for it in record.attributes}
                        line = {"name": record.event_name, "time": record.time_unix_nano, "fields": fields,
                                "service": resource.resource.attributes[0].value.string_value}
                        print(json.dumps(line), file=out)
        self.answer(200, json_format.MessageToJson(service.ExportLogsServiceResponse()))

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
