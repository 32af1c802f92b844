# Receives Subtext webhooks in Rails: gem install railties puma. An app has the same controller in its own files.

ENV["RAILS_ENV"] ||= "production"

require "action_controller/railtie"
require "json"
require "net/http"
require "openssl"
require "puma"
require "set"

# The signing secret of your webhook endpoint, or both secrets during a rotation, separated by a space.
SECRETS = ENV["SUBTEXT_WEBHOOK_SECRET"].to_s.split
TIMEOUT_SECONDS = 30

class Receiver < Rails::Application
  config.eager_load = false
  config.secret_key_base = SecureRandom.hex(32)
  config.logger = ActiveSupport::Logger.new($stderr)
  config.log_level = :error
  routes.append { post "/webhooks/subtext", to: "webhooks#create" }
end

class WebhooksController < ActionController::API
  TOLERANCE_SECONDS = 300
  # An event may arrive more than once. In production, use a table with a unique column, and queue the event in the same
  # transaction. Otherwise, a crash loses events that were accepted.
  SEEN = Set.new
  SEEN_LOCK = Mutex.new

  def create
    id = request.headers["webhook-id"].to_s
    # The signature covers the raw bytes, so verify them before parsing.
    return head(:bad_request) unless signed?(id, request.raw_post)

    event = JSON.parse(request.raw_post)
    is_new = SEEN_LOCK.synchronize { SEEN.add?(id) }
    # Respond first: processing may take longer than the service waits. In production, use Active Job.
    Thread.new { handle_once(id, event) } if is_new
    head :no_content
  end

  private

  # An exception results in a 500 response, after which the service retries.
  def signed?(id, body)
    keys = SECRETS.map { |secret| secret.delete_prefix("whsec_").unpack1("m") }
    raise ArgumentError, "SUBTEXT_WEBHOOK_SECRET is missing or empty" if keys.empty? || keys.any?(&:empty?)

    timestamp = request.headers["webhook-timestamp"].to_s
    return false unless timestamp.match?(/\A\d+\z/) && (Time.now.to_i - timestamp.to_i).abs <= TOLERANCE_SECONDS

    expected = keys.map { |key| "v1,#{[OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{timestamp}.#{body}")].pack("m0")}" }
    given = request.headers["webhook-signature"].to_s.split
    given.product(expected).any? { |pair| ActiveSupport::SecurityUtils.secure_compare(*pair) }
  end

  def handle_once(id, event)
    handle_event(event)
  rescue StandardError => error
    # You can redeliver the event from the dashboard. In production, use a job that is retried automatically.
    SEEN_LOCK.synchronize { SEEN.delete(id) }
    warn "handling event #{id} failed: #{error.message}"
  end

  def handle_event(event)
    return unless event["type"] == "transcriptions.transcription.completed"

    data = event["data"]
    # The URLs expire after five minutes, so download the content now.
    url = URI(data["files"]["txt"]["url"])
    timeouts = { open_timeout: TIMEOUT_SECONDS, read_timeout: TIMEOUT_SECONDS, use_ssl: url.scheme == "https" }
    file = Net::HTTP.start(url.host, url.port, timeouts) { |http| http.get(url.request_uri) }
    raise "Fetching the transcript failed with status #{file.code}." unless file.is_a?(Net::HTTPSuccess)

    text = file.body.force_encoding("UTF-8")
    puts JSON.generate(videoId: data["videoId"], language: data["language"], text: text)
    $stdout.flush
  end
end

Rails.application.initialize!
server = Puma::Server.new(Rails.application)
port = Integer(ENV.fetch("PORT", "3000"))
server.add_tcp_listener("127.0.0.1", port)
puts JSON.generate(listening: { port: port })
$stdout.flush
server.run.join
